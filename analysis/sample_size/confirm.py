"""CONFIRM's estimate of how often to repeat: Maricq et al., Taming performance variability, OSDI 2018."""

import numpy as np
from numpy.typing import ArrayLike

from analysis.arrays import Array
from analysis.errors import AnalysisError

SUBSETS = 200
SMALLEST = 10
Z = 1.96
# Sizes grow by one, then by this share: 10,200 runs are tried in 350 sizes.
GROWTH = 0.02


def confirm(x: ArrayLike, *, error: float = 0.01, rng: np.random.Generator, max_n: int | None = None) -> int | None:
    """The smallest n whose 95 % interval of the median lies within +- error x median; None: not within the runs.

    For each size, `SUBSETS` subsets of the runs x, shape (n,), are drawn without replacement, and the ends of their
    nonparametric intervals (ranks (n -+ 1.96 sqrt(n)) / 2) are averaged. It can never ask for more runs than there are.
    """
    runs = np.asarray(x, dtype=np.float64)
    if not error > 0:
        raise AnalysisError(f"CONFIRM's error is a share above 0, not {error:g}")
    median = float(np.median(runs))
    allowed = error * abs(median)
    most = len(runs) if max_n is None else min(len(runs), max_n)
    shuffled = rng.permuted(np.broadcast_to(runs, (SUBSETS, len(runs))), axis=1)[:, :most]
    n = SMALLEST
    while n <= most:
        low, high = _mean_interval(shuffled[:, :n])
        if low >= median - allowed and high <= median + allowed:
            return n
        n += max(1, int(GROWTH * n))
    return None


def _mean_interval(subsets: Array) -> tuple[float, float]:
    """Mean ends of the intervals of the medians of subsets, (subsets, n)."""
    n = subsets.shape[1]
    half = Z * n**0.5
    low = max(int(np.floor((n - half) / 2)), 1)
    high = min(int(np.ceil(1 + (n + half) / 2)), n)
    ranks = np.partition(subsets, [low - 1, high - 1], axis=1)
    return float(np.mean(ranks[:, low - 1])), float(np.mean(ranks[:, high - 1]))
