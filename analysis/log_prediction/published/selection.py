"""SelectFeatures: the features that correlate most with a target; and the choice among algorithms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite

import numpy as np

from analysis.arrays import Array

SELECTED = 3
FEWEST = 10  # jobs that tell both


def correlation(x: Array, y: Array) -> float:
    """Pearson's coefficient over the jobs that tell both, (n,) each; NaN where one of them does not vary."""
    both = np.isfinite(x) & np.isfinite(y)
    if np.count_nonzero(both) < FEWEST or np.ptp(x[both]) == 0 or np.ptp(y[both]) == 0:
        return float("nan")
    return float(np.corrcoef(x[both], y[both])[0, 1])


def select_features(values: Array, target: Array, candidates: Iterable[int]) -> tuple[int, ...]:
    """The three columns of values, (n, features), with the strongest correlation with the target, strongest first."""
    strengths = {place: abs(correlation(values[:, place], target)) for place in candidates}
    told = [place for place, strength in strengths.items() if isfinite(strength)]
    return tuple(sorted(told, key=lambda place: -strengths[place])[:SELECTED])


def best_of(coefficients: Mapping[tuple[str, str], float]) -> tuple[str, str]:
    """The combination with the highest coefficient of determination.

    In print `Coefficient` is compared with (line 46) and never assigned: the last positive algorithm would win. The
    text says the highest.
    """
    return max(coefficients, key=lambda pair: coefficients[pair] if isfinite(coefficients[pair]) else -np.inf)
