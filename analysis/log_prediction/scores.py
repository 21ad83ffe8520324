"""How good predictions are: of all jobs, and within keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array, Flags
from analysis.log_prediction.jobs import Key

ROUNDING = 1e-24  # of squares: a mean of equal numbers is not exactly one of them


@dataclass(frozen=True, kw_only=True)
class Score:
    """Of n jobs. NaN where the measured values do not vary."""

    r2: float  # of throughput
    r2_log: float  # of its logarithm
    within_r2: float  # of throughput, against each key's own mean over these jobs
    n: int
    coverage90: float  # share of jobs within their 90 % interval


def score(log_measured: Array, log_predicted: Array, keys: Sequence[Key], inside: Flags) -> Score:
    """Measured and predicted logarithms of throughput, (n,), and which jobs lie in their intervals, (n,)."""
    measured, predicted = np.exp(log_measured), np.exp(log_predicted)
    return Score(
        r2=r2(measured, predicted),
        r2_log=r2(log_measured, log_predicted),
        within_r2=r2(measured, predicted, _means_by_key(measured, keys)),
        n=len(measured),
        coverage90=float(np.mean(inside)) if len(inside) else float("nan"),
    )


def r2(measured: Array, predicted: Array, against: Array | None = None) -> float:
    """The coefficient of determination, (n,) each, against the mean or what is given; NaN where nothing varies."""
    total = float(np.sum((measured - (np.mean(measured) if against is None else against)) ** 2))
    if total <= ROUNDING * float(np.sum(measured**2)):
        return float("nan")
    return 1.0 - float(np.sum((measured - predicted) ** 2)) / total


def _means_by_key(values: Array, keys: Sequence[Key]) -> Array:
    members: dict[Key, list[int]] = {}
    for place, key in enumerate(keys):
        members.setdefault(key, []).append(place)
    means = np.empty(len(values))
    for places in members.values():
        means[places] = np.mean(values[places])
    return means
