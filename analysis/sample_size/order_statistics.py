"""Intervals of quantiles without any model: from the ranks of the runs."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom

CONFIDENCE = 0.95


def order_interval(x: ArrayLike, q: float, confidence: float = CONFIDENCE) -> tuple[float | None, float | None]:
    """The interval between two order statistics of x, shape (n,), that holds the q-quantile.

    The number of runs below x_q is binomial (n, q): each end errs with at most (1 - confidence) / 2. An end is None
    where so few runs have none.
    """
    runs = np.sort(np.asarray(x, dtype=np.float64))
    outside = (1 - confidence) / 2
    below = int(binom.ppf(outside, len(runs), q))  # P(B < below) <= outside
    above = int(binom.ppf(1 - outside, len(runs), q)) + 1
    low = float(runs[below - 1]) if below > 0 else None
    high = float(runs[above - 1]) if above <= len(runs) else None
    return low, high
