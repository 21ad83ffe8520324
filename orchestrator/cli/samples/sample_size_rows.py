"""The rows of `modescope sample-size`: a summary, or the curve of Gamma."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from analysis import sample_size as sizes
from analysis.mixture import Failure

Row = tuple[object, ...]
MET, NOT_MET = "met", "not within max-n"
COLUMNS = (
    *("runs", "family", "components", "likelihood", "floor_active"),
    *("n", "target", "n_low", "n_high", "n_fit", "n_sample", "n_confirm"),
)
OF_QUANTILE = ("quantile", "se", "gamma", "se_sd", "low", "high")


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Columns after the labels, and the rows of one configuration; None is an empty cell."""

    columns: tuple[str, ...]
    rows: Callable[[sizes.Answer | Failure], Iterator[Row]]
    is_curve: bool


def summary(target: sizes.Target) -> Layout:
    """A row for each configuration."""
    of_quantiles = (f"{stem}_{q}" for q in target.quantiles for stem in OF_QUANTILE)
    columns = (*COLUMNS, *of_quantiles, "note")

    def rows(answer: sizes.Answer | Failure) -> Iterator[Row]:
        if isinstance(answer, Failure):
            yield (*[None] * (len(columns) - 1), answer.message)
        else:
            yield (*_sizes(answer), *_of_quantiles(answer, target), answer.refused)

    return Layout(columns=columns, rows=rows, is_curve=False)


def curve(target: sizes.Target) -> Layout:
    """A row for each configuration and n; the centred Gamma is told beside SE / sd."""
    columns = ["n", *(f"gamma_{q}" for q in target.quantiles)]
    if target.centred:
        columns += [f"se_sd_{q}" for q in target.quantiles]

    def rows(answer: sizes.Answer | Failure) -> Iterator[Row]:
        for n in sizes.sizes(target.max_n):
            if isinstance(answer, Failure):
                yield (n, *[None] * (len(columns) - 1))
                continue
            in_sds = [_in_sds(answer, one, n) for one in answer.precisions] if target.centred else []
            yield (n, *answer.gammas(target, n), *in_sds)

    return Layout(columns=tuple(columns), rows=rows, is_curve=True)


def told(target: sizes.Target) -> dict[str, object]:
    """The target in JSON."""
    return {
        "quantiles": target.quantiles,
        "share": target.share,
        "scale": target.scale,
        "centred": target.centred,
        "quantile_from": target.estimator,
        "max_n": target.max_n,
    }


def _sizes(answer: sizes.Answer) -> Row:
    need, fit = answer.need, answer.fit
    low, high = answer.interval or (None, None)
    return (
        answer.runs or None,
        fit.family,
        fit.components,
        answer.likelihood,
        "true" if fit.floor_active else "false",
        need.n,
        MET if need.met else NOT_MET,
        low,
        high,
        None if need.by_fit is None else sizes.rounded(need.by_fit),
        sizes.rounded(need.by_sample),
        None if answer.without_model is None else answer.without_model.confirm,
    )


def _of_quantiles(answer: sizes.Answer, target: sizes.Target) -> Row:
    n = answer.need.n
    without = answer.without_model
    ends = [(None, None)] * len(target.quantiles) if without is None else without.intervals
    cells: list[object] = []
    for one, gamma, (low, high) in zip(answer.precisions, answer.gammas(target, n), ends, strict=True):
        cells += [one.value, one.error(n), gamma, _in_sds(answer, one, n), low, high]
    return tuple(cells)


def _in_sds(answer: sizes.Answer, one: sizes.Precision, n: int) -> float | None:
    """SE / sd, which unlike the centred Gamma has a sign and an end."""
    error = one.error(n)
    return None if error is None or answer.centre.sd == 0 else error / answer.centre.sd
