"""Was a flag confirmed? Judged by new runs alone: the old ones were chosen because they looked multimodal."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from scipy import stats

from analysis.arrays import Array
from analysis.confirmation.power import DRAWS, TARGET, power
from analysis.errors import AnalysisError
from analysis.mixture.fit import Fit
from analysis.mixture.options import Options
from analysis.mixture.selection import Selection, fit, followed, ranked
from analysis.modality.density import DensityMode
from analysis.modality.verdicts import listed, told_in, verdict

Outcome = Literal["confirmed", "changed", "retracted", "undecided"]
# Modes that agree are all said to agree with this probability.
CONFIDENCE = 0.99
# A smaller mode comes and goes by chance, and decides nothing.
SMALLEST_SHARE = 0.1


@dataclass(frozen=True, kw_only=True)
class Pooled:
    """The best fit of first and new runs together, where they agree."""

    n: int
    family: str
    components: int
    positions: tuple[float, ...]
    shares: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Confirmation:
    """What new runs say about a flag, and why, in one sentence.

    `power`: the probability that as many runs as there are new ones would show the first fit's modes again; None
    where they did. `pooled`: None unless confirmed.
    """

    outcome: Outcome
    sentence: str
    n_first: int
    n_again: int
    dip_q: float
    power: float | None = None
    pooled: Pooled | None = None

    def as_dict(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self)


def confirm(
    first: Selection,
    again: Selection,
    *,
    dip_q: float,
    samples: tuple[Array, Array],
    options: Options,
    rng: np.random.Generator,
    unit: str = "kB/s",
) -> Confirmation:
    """Judge a flag by its re-run.

    `first` is the flagged selection, `again` that of the new runs; `dip_q` the Benjamini-Hochberg value of the new
    dip test over the flagged configurations that were measured again; `samples` the first and the new runs.
    """
    if verdict(again, dip_q=dip_q, options=options).kind != "multimodal":
        outcome, sentence, likely = _not_again(first, again, options, rng)
        return Confirmation(
            outcome=outcome, sentence=sentence, n_first=first.n, n_again=again.n, dip_q=dip_q, power=likely
        )
    places = _places(again.modes, unit)
    same = agree(first, again, options=options, rng=rng)
    confirmed = f"several modes again in {again.n} new runs, with peaks at {places}"
    changed = f"several modes again, but others: peaks at {places}, before at {_places(first.modes, unit)}"
    return Confirmation(
        outcome="confirmed" if same else "changed",
        sentence=confirmed if same else changed,
        n_first=first.n,
        n_again=again.n,
        dip_q=dip_q,
        pooled=_pooled(np.concatenate(samples), first, again, options) if same else None,
    )


def agree(first: Selection, again: Selection, *, options: Options, rng: np.random.Generator) -> bool:
    """Has every mode that holds a tenth of the runs a counterpart in the other fit, as near as chance allows?

    How far both positions of a mode lie apart by chance, and by the choice of two families, is seen in pairs of samples
    drawn from the first fit, each fitted as the first and as the new runs were.
    """
    usual, strayed = _apart(first, again, options, rng)
    wide = float(stats.norm.ppf(1 - (1 - CONFIDENCE) / 2 / len(first.modes)))
    rounding = max(first.resolution or 0.0, again.resolution or 0.0)
    moved = _positions(again.modes) - _positions(first.modes)[:, None]
    near = np.abs(moved - usual[:, None]) <= wide * strayed[:, None] + rounding
    large_first, large_again = ([m.share >= SMALLEST_SHARE for m in one.modes] for one in (first, again))
    return bool(np.all(near[large_first].any(axis=1)) and np.all(near[:, large_again].any(axis=0)))


def _apart(first: Selection, again: Selection, options: Options, rng: np.random.Generator) -> tuple[Array, Array]:
    """Mean and standard deviation, by quartiles, of what lies between both positions of each first mode, (modes,)."""
    drawn = []
    for _ in range(DRAWS):
        before, after = (_nearest(_refitted(first, one, options, rng), first, options) for one in (first, again))
        drawn.append(after - before)
    return np.median(drawn, axis=0), np.asarray(stats.iqr(drawn, axis=0)) / 1.349


def _refitted(first: Selection, like: Selection, options: Options, rng: np.random.Generator) -> Fit:
    """A draw from the first fit with the family and the components of `like`: from where these lie for the first runs.

    Searched for where the first runs were not fitted with them.
    """
    values = _drawn(first.best, like, rng)
    start = [one for one in first.table if (one.family, one.components) == (like.family, like.components)]
    return (
        followed(values, start, options=options)[0]
        if start
        else fit(values, like.family, like.components, options=options)
    )


def _drawn(found: Fit, like: Selection, rng: np.random.Generator) -> Array:
    """As many values as `like` has runs, where its family can lie: a wide normal component reaches below zero."""
    values = found.sample(like.n, rng)
    while like.family != "normal" and np.any(outside := values <= 0):
        values[outside] = found.sample(int(np.count_nonzero(outside)), rng)
    return values


def _nearest(found: Fit, first: Selection, options: Options) -> Array:
    """The position of the peak of a fit that is nearest to each first mode."""
    places = _positions(found.density_modes(options))
    return np.array([places[np.argmin(np.abs(places - mode.position))] for mode in first.modes])


def _not_again(
    first: Selection, again: Selection, options: Options, rng: np.random.Generator
) -> tuple[Outcome, str, float | None]:
    """Outcome, sentence and power."""
    if again.n < options.min_n:
        return "undecided", f"{again.n} new runs are too few to judge: {options.min_n} are needed", None
    likely = power(first, again.n, options=options, rng=rng)
    missed = f"not multimodal in {again.n} new runs"
    if likely >= TARGET:
        return "retracted", f"{missed}, which would have shown it with probability {likely:.2f}", likely
    return "undecided", f"{missed}, but so few would show it only with probability {likely:.2f}", likely


def _pooled(values: Array, first: Selection, again: Selection, options: Options) -> Pooled | None:
    """The best fit of all runs that the fits of the first or of the new ones lead to."""
    most = 1 + max(first.components, again.components)
    table: dict[tuple[str, int], Fit] = {}
    try:
        for one in (first, again):
            for found in followed(values, [start for start in one.table if start.components <= most], options=options):
                key = (found.family, found.components)
                table[key] = max(table.get(key, found), found, key=lambda fit: fit.loglik)
    except AnalysisError:
        return None
    fits = list(table.values())
    best = fits[ranked(fits, options)[0]]
    modes = best.density_modes(options)
    return Pooled(
        n=best.n,
        family=best.family,
        components=best.components,
        positions=tuple(mode.position for mode in modes),
        shares=tuple(mode.share for mode in modes),
    )


def _positions(modes: Sequence[DensityMode]) -> Array:
    return np.array([mode.position for mode in modes])


def _places(modes: Sequence[DensityMode], unit: str) -> str:
    factor, unit = told_in(max(mode.position for mode in modes), unit)
    return f"{listed([f'{mode.position / factor:.3g}' for mode in modes])} {unit}"
