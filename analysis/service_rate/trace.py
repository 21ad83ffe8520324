"""Estimates from a recorded trace: equal periods, the items finished in each, and whether the server was blocked."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array, Flags
from analysis.errors import BadSampleError
from analysis.service_rate.estimator import CountEstimator, TimeEstimator
from analysis.service_rate.outcomes import Outcome
from analysis.service_rate.published import Method

SPARSE_SHARE = 0.9
"""Where so many unblocked periods hold no item or one, inter-completion times are used."""


@dataclass(frozen=True, kw_only=True)
class Trace:
    """(n,) ends of periods in seconds, ascending; items finished; blocked or not. Raises `BadSampleError`."""

    time_s: Array
    count: Array
    blocked: Flags

    def __post_init__(self) -> None:
        if len(self.time_s) < 2:
            raise BadSampleError(f"a trace has at least 2 periods, not {len(self.time_s)}")
        if not (np.all(np.isfinite(self.time_s)) and np.all(np.diff(self.time_s) > 0)):
            raise BadSampleError("the times of a trace are ascending numbers")
        if not (np.all(np.isfinite(self.count)) and np.min(self.count) >= 0):
            raise BadSampleError("the counts of a trace are numbers of at least 0")

    @property
    def period_s(self) -> float:
        """T: the median step, so that rows left out do not count."""
        return float(np.median(np.diff(self.time_s)))

    @property
    def is_sparse(self) -> bool:
        """Whether nearly all unblocked periods hold no item or one."""
        unblocked = self.count[~self.blocked]
        return len(unblocked) > 0 and float(np.mean(unblocked <= 1)) >= SPARSE_SHARE


def outcomes(trace: Trace, *, method: Method | None = None) -> Iterator[Outcome]:
    """What the estimator says of a trace, in the order of time."""
    return _from_times(trace) if trace.is_sparse else _from_counts(trace, method)


def _from_counts(trace: Trace, method: Method | None) -> Iterator[Outcome]:
    estimator = CountEstimator(period_s=trace.period_s, method=method)
    for time_s, count, blocked in zip(trace.time_s.tolist(), trace.count.tolist(), trace.blocked.tolist(), strict=True):
        yield from estimator.add(time_s=time_s, count=count, blocked=blocked)
    yield from estimator.finish()


def _from_times(trace: Trace) -> Iterator[Outcome]:
    """Unblocked periods put end to end; several items in one period share it evenly.

    A completion that a blocked period hides lengthens no interval: what the clock ran is unblocked time only, so that
    completions over unblocked time stay the rate.
    """
    estimator = TimeEstimator()
    elapsed_s = 0.0
    for time_s, count in zip(trace.time_s[~trace.blocked].tolist(), trace.count[~trace.blocked].tolist(), strict=True):
        elapsed_s += trace.period_s
        items = round(count)
        for _ in range(items):
            yield from estimator.add(time_s=time_s, service_s=elapsed_s / items)
        if items:
            elapsed_s = 0.0
    yield from estimator.finish()
