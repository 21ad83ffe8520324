"""The verdict on a configuration: what is flagged, and why, in one sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:  # the mixture engine computes density modes with this package
    from analysis.mixture.fit import Fit
    from analysis.mixture.options import Options
    from analysis.mixture.selection import Selection

Kind = Literal["multimodal", "unimodal", "mixture", "undecided"]
NUMBER_WORDS = ("no", "one", "two", "three", "four", "five")
# kB/s and the larger units it is told in.
LARGER_UNITS = ((1e6, "GB/s"), (1e3, "MB/s"), (1.0, "kB/s"))


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What is flagged (`kind`) and why (`sentence`, with its numbers)."""

    kind: Kind
    sentence: str

    def as_dict(self) -> dict[str, Any]:
        """JSON values."""
        return {"kind": self.kind, "sentence": self.sentence}


def verdict(selection: "Selection", *, dip_q: float, options: "Options", unit: str = "kB/s") -> Verdict:
    """Judge a selection. `dip_q` is its Benjamini-Hochberg value among the configurations judged together.

    `unit` is that of the sample; throughputs in kB/s are told in MB/s or GB/s where that is shorter.
    """
    gap = -np.inf if selection.bic_gap is None else selection.bic_gap
    if selection.n < options.min_n:
        return Verdict(
            kind="undecided", sentence=f"{selection.n} runs are too few to judge: {options.min_n} are needed"
        )
    if gap >= options.bic_gap_alone or (gap >= options.bic_gap and dip_q <= options.dip_q):
        return _several_modes(selection, dip_q, options, unit)
    if selection.components == 1:
        sentence = f"one {selection.family} component describes all runs; {_evidence(selection, dip_q)}"
        return Verdict(kind="unimodal", sentence=sentence)
    if gap <= 0:
        words = f"{NUMBER_WORDS[selection.components]} {selection.family} components"
        sentence = f"{words} under {_peaks(selection.best, selection, options, unit)}; {_evidence(selection, dip_q)}"
        return Verdict(kind="mixture", sentence=sentence)
    sentence = f"{_peaks(selection.best, selection, options, unit)} not certain; {_evidence(selection, dip_q)}"
    return Verdict(kind="undecided", sentence=sentence)


def _several_modes(selection: "Selection", dip_q: float, options: "Options", unit: str) -> Verdict:
    fit = selection.multimodal_fit or selection.best
    evidence = _evidence(selection, dip_q)
    peaks = _peaks(fit, selection, options, unit)
    if _solid_modes(fit, selection, options) >= 2:
        return Verdict(kind="multimodal", sentence=f"{peaks}; {evidence}")
    reason = (
        f"a peak rests on a component at the narrowest width allowed or below {100 * options.min_share:g} % of runs"
    )
    return Verdict(kind="undecided", sentence=f"{peaks}, but {reason}; {evidence}")


def _solid_modes(fit: "Fit", selection: "Selection", options: "Options") -> int:
    """Density modes whose strongest component is neither at the floor nor below the minimum share."""
    positions = np.array([mode.position for mode in fit.density_modes(options)])
    strongest = np.argmax(fit.component_pdf(positions), axis=0)
    solid = (~np.array(fit.at_floor)) & (np.array(fit.weights) >= options.min_share)
    return int(np.sum(solid[strongest]))


def _peaks(fit: "Fit", selection: "Selection", options: "Options", unit: str) -> str:
    modes = fit.density_modes(options)
    factor, unit = told_in(max(mode.position for mode in modes), unit)
    places = listed([f"{mode.position / factor:.3g}" for mode in modes])
    word = NUMBER_WORDS[len(modes)]
    if len(modes) == 1:
        return f"{word} peak at {places} {unit}"
    shares = listed([f"{100 * mode.share:.0f}" for mode in modes])
    return f"{word} peaks at {places} {unit} holding {shares} % of runs"


def told_in(largest: float, unit: str) -> tuple[float, str]:
    """The larger unit in which values up to `largest` are told, as its factor and its name."""
    if unit != "kB/s":
        return 1.0, unit
    return next((pair for pair in LARGER_UNITS if largest >= pair[0]), (1.0, unit))


def _evidence(selection: "Selection", dip_q: float) -> str:
    gap = "no fit has two peaks" if selection.bic_gap is None else f"BIC gap {selection.bic_gap:.0f}"
    return f"{gap}; dip q {_p_value(dip_q)}"


def _p_value(p: float) -> str:
    if p < 0.001:
        return "< .001"
    return f"{p:.3f}".removeprefix("0") if p < 0.0995 else f"{p:.2f}".removeprefix("0")


def listed(words: Sequence[str]) -> str:
    """`a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
