"""How many runs of one configuration are enough, from its stored fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis import sample_size as sizes
from analysis.arrays import Array
from analysis.errors import AnalysisError
from analysis.mixture import Options, Selection
from orchestrator.contracts.errors import ConflictError, RequestError
from orchestrator.contracts.findings import ConfigurationPage
from orchestrator.report import curves

MOST_DRAWN = 2_000
"""Runs that are drawn from while somebody waits: the time grows with them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OfQuantile:
    """How well one quantile is known; values are in the metric's own unit."""

    q: float
    value: float
    standard_error: float | None
    """With the runs there are; None where it is not defined."""
    gamma: list[float | None]
    """Gamma_q(n) = SE / x_q, centred where that was asked, at `SampleSize.sizes`."""
    low: float | None
    high: float | None
    """95 % interval by ranks alone; an end that so few runs do not have is None."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SampleSize:
    """The answer of `modescope sample-size` for one configuration."""

    runs: int
    n: int
    met: bool
    """Whether `n` is enough; if not, the target is not within `max_n`."""
    max_n: int
    n_wanted: int
    """What would be enough without `max_n`."""
    n_low: int | None
    """With `n_high`: its 80 % interval by a bootstrap of the runs, selection included; None where not asked for."""
    n_high: int | None
    n_fit: int | None
    n_sample: int
    n_confirm: int | None
    """CONFIRM's n for 1 % of the median; None: not within the runs there are."""
    quantiles: list[OfQuantile]
    sizes: list[int]
    refused: str | None
    """Why there is no standard error."""
    inflation: float
    """So many times as many runs are needed, and counted in here, because those of a job are alike; 1: they are not."""


def of(page: ConfigurationPage, target: sizes.Target, *, resamples: int = 0) -> SampleSize:
    """For the current fits, with the interval of n from so many draws of the runs (seconds; 0: without).

    Raises ConflictError before there are any fits, RequestError for a target without sense.
    """
    if page.selection is None:
        raise ConflictError("this configuration is not analysed yet: there is no fit to tell a sample size from")
    selection, sample = Selection.from_dict(page.selection), np.array(curves.sample_of(page))
    try:
        return _told(selection, sample, target, resamples, _inflation(page, sample, target))
    except AnalysisError as error:
        raise RequestError(str(error)) from error


def _inflation(page: ConfigurationPage, sample: Array, target: sizes.Target) -> float:
    jobs = [str(run.position) for run in page.runs if run.counts and run.value is not None]
    return sizes.inflation(sample, jobs, target.quantiles, rng=np.random.default_rng(0))


def _told(selection: Selection, sample: Array, target: sizes.Target, resamples: int, inflation: float) -> SampleSize:
    candidates = sizes.Candidates.of(selection, Options())
    asked, drawn = np.random.default_rng(0).spawn(2)
    answer = sizes.of_candidates(sample, candidates, target, rng=asked)
    low, high = (None, None)
    if resamples:
        low, high = (
            sizes.rounded(end * inflation)
            for end in sizes.interval(candidates, target, sample, rng=drawn, resamples=resamples)
        )
    need, larger = answer.need.times(inflation), inflation**0.5
    told = sorted({*sizes.sizes(target.max_n), answer.runs, need.n})
    gammas = np.array([_times(answer.gammas(target, n), larger) for n in told], dtype=object).T.tolist()
    ends = [] if answer.without_model is None else answer.without_model.intervals
    return SampleSize(
        runs=answer.runs,
        n=need.n,
        met=need.met,
        max_n=target.max_n,
        n_wanted=need.uncapped,
        n_low=low,
        n_high=high,
        n_fit=None if need.by_fit is None else sizes.rounded(need.by_fit),
        n_sample=sizes.rounded(need.by_sample),
        n_confirm=None if answer.without_model is None else answer.without_model.confirm,
        quantiles=[
            OfQuantile(
                q=one.q,
                value=one.value,
                standard_error=_times([one.error(answer.runs)], larger)[0],
                gamma=gamma,
                low=first,
                high=last,
            )
            for one, gamma, (first, last) in zip(answer.precisions, gammas, ends, strict=True)
        ],
        sizes=told,
        refused=answer.refused,
        inflation=inflation,
    )


def _times(errors: Sequence[float | None], factor: float) -> list[float | None]:
    return [None if error is None else error * factor for error in errors]
