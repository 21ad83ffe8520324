"""How many runs of one configuration are enough, from its stored fits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis import sample_size as sizes
from analysis.arrays import Array
from analysis.errors import AnalysisError
from analysis.mixture import Options, Selection
from orchestrator.contracts.errors import ConflictError, RequestError
from orchestrator.contracts.findings import ConfigurationPage
from orchestrator.report import curves


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
    """The answer of `modescope sample-size` for one configuration, without the bootstrap."""

    runs: int
    n: int
    met: bool
    """Whether `n` is enough; if not, the target is not within `max_n`."""
    max_n: int
    n_wanted: int
    """What would be enough without `max_n`."""
    n_fit: int | None
    n_sample: int
    n_confirm: int | None
    """CONFIRM's n for 1 % of the median; None: not within the runs there are."""
    quantiles: list[OfQuantile]
    sizes: list[int]
    refused: str | None
    """Why there is no standard error."""


def of(page: ConfigurationPage, target: sizes.Target) -> SampleSize:
    """For the current fits. Raises ConflictError before there are any, RequestError for a target without sense."""
    if page.selection is None:
        raise ConflictError("this configuration is not analysed yet: there is no fit to tell a sample size from")
    selection, sample = Selection.from_dict(page.selection), np.array(curves.sample_of(page))
    try:
        return _told(selection, sample, target)
    except AnalysisError as error:
        raise RequestError(str(error)) from error


def _told(selection: Selection, sample: Array, target: sizes.Target) -> SampleSize:
    candidates = sizes.Candidates.of(selection, Options())
    answer = sizes.of_candidates(sample, candidates, target, rng=np.random.default_rng(0))
    told = sorted({*sizes.sizes(target.max_n), answer.runs, answer.need.n})
    gammas = np.array([answer.gammas(target, n) for n in told], dtype=object).T.tolist()
    ends = [] if answer.without_model is None else answer.without_model.intervals
    return SampleSize(
        runs=answer.runs,
        n=answer.need.n,
        met=answer.need.met,
        max_n=target.max_n,
        n_wanted=answer.need.uncapped,
        n_fit=None if answer.need.by_fit is None else sizes.rounded(answer.need.by_fit),
        n_sample=sizes.rounded(answer.need.by_sample),
        n_confirm=None if answer.without_model is None else answer.without_model.confirm,
        quantiles=[
            OfQuantile(q=one.q, value=one.value, standard_error=one.error(answer.runs), gamma=gamma, low=low, high=high)
            for one, gamma, (low, high) in zip(answer.precisions, gammas, ends, strict=True)
        ],
        sizes=told,
        refused=answer.refused,
    )
