"""How far runs are from independent: correlation of neighbours, and of the runs of a job.

All of it is told of ranks: throughputs have tails, and one extreme run would hide or feign a correlation.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from analysis.arrays import Array, Indices
from analysis.attribution.runs import Runs, codes

CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True)
class Intraclass:
    """Intraclass correlation of the runs of a group, with its 95 % interval; `groups` of `size` runs on average."""

    value: float
    low: float
    high: float
    groups: int
    size: float

    @property
    def excludes_zero(self) -> bool:
        """Whether runs of a group are more alike than runs of different groups."""
        return self.low > 0


@dataclass(frozen=True, kw_only=True)
class Dependence:
    """What the runs of a configuration share. None: it cannot be told from these runs."""

    # Of neighbouring runs of a node, without what its node makes of it.
    lag_one: float | None
    by_job: Intraclass | None
    # How many independent runs would tell as much about the mean: n / (1 + (runs a job - 1) ICC).
    effective_n: float


def dependence(runs: Runs) -> Dependence:
    """Of the runs in their order of start."""
    ranks = stats.rankdata(runs.values)
    by_job = intraclass(ranks, codes(runs.jobs)[0]) if runs.jobs else None
    shared = by_job.value * (by_job.size - 1) if by_job is not None and by_job.excludes_zero else 0.0
    return Dependence(
        lag_one=_lag_one(ranks, runs.nodes or ("",) * runs.n), by_job=by_job, effective_n=runs.n / (1 + shared)
    )


def intraclass(values: Array, groups: Indices, *, strata: Indices | None = None) -> Intraclass | None:
    """ICC(1) of `values` by group, by analysis of variance for groups of unequal size; within `strata`, if given.

    Searle, "Linear Models" (1971): with F = MSB / MSW and n0 runs a group, (F - 1) / (F + n0 - 1); its interval from
    that of F. Every group lies in one stratum. None where there are not two groups more than strata, or no group has
    two runs.
    """
    size = np.bincount(groups)
    outer = np.zeros_like(groups) if strata is None else strata
    stratum_of_group = np.zeros(len(size), dtype=np.int64)
    stratum_of_group[groups] = outer
    stratum_size = np.bincount(outer)
    between = len(size) - len(np.unique(outer))
    within = len(values) - len(size)
    if between < 2 or within < 1:
        return None
    mean = np.bincount(groups, values) / size
    stratum_mean = np.bincount(outer, values, minlength=len(stratum_size)) / np.maximum(stratum_size, 1)
    mean_square_between = float(np.sum(size * (mean - stratum_mean[stratum_of_group]) ** 2)) / between
    mean_square_within = float(np.sum((values - mean[groups]) ** 2)) / within
    squares = np.bincount(stratum_of_group, size**2, minlength=len(stratum_size)) / np.maximum(stratum_size, 1)
    per_group = (len(values) - float(np.sum(squares))) / between
    if mean_square_within == 0:
        alike = 1.0 if mean_square_between > 0 else 0.0
        return Intraclass(value=alike, low=alike, high=alike, groups=len(size), size=per_group)
    ratio = mean_square_between / mean_square_within
    tail = (1 - CONFIDENCE) / 2
    ratios = ratio / np.append(1.0, stats.f.ppf([1 - tail, tail], between, within))
    value, low, high = ((ratios - 1) / (ratios + per_group - 1)).tolist()
    return Intraclass(value=value, low=low, high=high, groups=len(size), size=per_group)


def _lag_one(ranks: Array, nodes: Sequence[str]) -> float | None:
    """Correlation of consecutive runs of a node, ranks centred by node."""
    number, names = codes(nodes)
    centred = ranks - (np.bincount(number, ranks) / np.bincount(number))[number]
    pairs = [centred[number == node] for node in range(len(names))]
    products = sum(float(np.sum(one[1:] * one[:-1])) for one in pairs)
    square = float(np.mean(centred**2))
    count = sum(max(len(one) - 1, 0) for one in pairs)
    return None if count < 2 or square == 0 else products / count / square
