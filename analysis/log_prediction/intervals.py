"""Prediction intervals that keep their promise while the machine changes.

Split conformal intervals of the errors of earlier predictions, in units of the key's own recent spread; the levels of
the two ends are corrected after every job that has ended (adaptive conformal inference: Gibbs and Candes, NeurIPS
2021).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from analysis.arrays import Array, Flags
from analysis.log_prediction.jobs import Jobs
from analysis.log_prediction.timeline import timeline

OUTSIDE = 0.1  # of 90 % intervals
WINDOW = 400  # errors that are remembered of a group
FEWEST = 30  # errors of a group before it stands for itself
STEP = 0.01  # by how much a level is corrected after one job
LEAST_SPREAD = 0.02


@dataclass(slots=True)
class _Group:
    """The errors of one group's predictions, in spreads, and the levels of the two ends."""

    errors: deque[float] = field(default_factory=deque)  # the newest last
    ascending: list[float] = field(default_factory=list)  # the same: sorting them for every job took a fifth of a run
    below: float = OUTSIDE / 2
    above: float = OUTSIDE / 2

    def ends(self) -> tuple[float, float]:
        if not self.errors:
            return -np.inf, np.inf
        low, high = (_quantile(self.ascending, share) for share in (max(self.below, 0.0), 1.0 - max(self.above, 0.0)))
        # A level below 0 asks for more than was ever seen: go beyond the extremes by as much.
        return low * (1 - 10 * min(self.below, 0.0)), high * (1 - 10 * min(self.above, 0.0))

    def learn(self, error: float, ends: tuple[float, float] | None) -> None:
        self.errors.append(error)
        insort(self.ascending, error)
        if len(self.errors) > WINDOW:
            del self.ascending[bisect_left(self.ascending, self.errors.popleft())]
        if ends is not None:
            self.below = min(self.below + STEP * (OUTSIDE / 2 - (error < ends[0])), 0.25)
            self.above = min(self.above + STEP * (OUTSIDE / 2 - (error > ends[1])), 0.25)


def intervals(jobs: Jobs, log_predicted: Array, spread: Array) -> tuple[Array, Array]:
    """Lower and upper ends of the 90 % intervals of log throughput, (n,) each; NaN where there is no prediction.

    An interval rests on predictions of jobs that had ended before, of the same direction and file system, of the same
    direction while these are few. Predictions of the training period must be honest ones: made without these jobs.
    """
    groups: dict[tuple[str, ...], _Group] = {}
    ends: dict[int, tuple[float, float]] = {}
    unit = np.maximum(spread, LEAST_SPREAD)
    for place, _, ended in timeline(jobs):
        for one, _, outcome in ended:
            if np.isfinite(log_predicted[one]):
                error = (outcome.log_throughput - log_predicted[one]) / unit[one]
                for name in _names(jobs, one):
                    groups.setdefault(name, _Group()).learn(float(error), ends.get(one))
        if np.isfinite(log_predicted[place]):
            fine, coarse = (groups.get(name, _Group()) for name in _names(jobs, place))
            ends[place] = (fine if len(fine.errors) >= FEWEST else coarse).ends()
    found = np.full((2, len(jobs)), np.nan)
    for place, (low, high) in ends.items():
        found[:, place] = log_predicted[place] + unit[place] * np.array([low, high])
    return found[0], found[1]


def inside(jobs: Jobs, low: Array, high: Array) -> Flags:
    """Which jobs' throughputs lie within their intervals, (n,)."""
    measured = np.log(jobs.throughput)
    within: Flags = (low <= measured) & (measured <= high)
    return within


def _quantile(ascending: Sequence[float], share: float) -> float:
    """As `numpy.quantile`, of values in order."""
    below, part = divmod(share * (len(ascending) - 1), 1.0)
    low, high = ascending[int(below)], ascending[min(int(below) + 1, len(ascending) - 1)]
    return low + part * (high - low)


def _names(jobs: Jobs, place: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (jobs.directions[place], jobs.file_systems[place]), (jobs.directions[place],)
