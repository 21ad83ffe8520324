"""How many items a server finishes in a period: never blocked, stopped part of the way, and counted wrongly.

A renewal process whose service times are gamma distributed with shape a finishes N(T) items in a period that begins
at no particular moment (Cox 1962, section 3.2, and Winkelmann 1995). a = 1 is a Poisson count, a -> infinity a
deterministic server, whose counts are the two integers around the mean. Its mean is exactly mu T for every shape.
Above `NORMAL_FROM` items a period the count is as good as normal.
"""

import numpy as np
from scipy.special import gammainc, ndtr

from analysis.arrays import Array

NORMAL_FROM = 30.0
SMALLEST = 1e-300


def renewal_pmf(mean: float, shape: float, up_to: int) -> Array:
    """P(N = n) for n = 0 .. up_to of a stationary gamma renewal process with `mean` renewals a period: (up_to + 1,).

    P(N >= n + 1) = (I_n - I_{n+1}) / m, where I_n is the integral of P(S_n <= t) over the period, m = 1 / mean.
    """
    n = np.arange(up_to + 3, dtype=np.float64)
    scaled = shape * mean
    below, next_below = np.ones_like(n), np.empty_like(n)
    below[1:] = gammainc(n[1:] * shape, scaled)
    next_below[:] = gammainc(n * shape + 1, scaled)
    integral = below - n / mean * next_below  # in periods; I_0 = 1
    integral[0] = 1.0
    at_least = np.concatenate([[1.0], -np.diff(integral) * mean])
    pmf: Array = np.maximum(at_least[:-1] - at_least[1:], 0.0)
    return pmf[: up_to + 1]


def normal_pmf(mean: float, sd: float, counts: Array) -> Array:
    """A normal distribution collected in cells of width 1 around `counts`."""
    upper, lower = (counts + 0.5 - mean) / sd, (counts - 0.5 - mean) / sd
    return np.asarray(ndtr(upper) - ndtr(lower), dtype=np.float64)


def full_and_partial(mean: float, dispersion: float, counts: Array) -> tuple[Array, Array]:
    """P(count) of a whole unblocked period and of one cut at a random moment, at each of `counts`.

    `dispersion` is the variance of the count over its mean. A partial firing keeps a uniform share of a whole period.
    """
    if mean >= NORMAL_FROM:
        sd = float(np.sqrt(dispersion * mean))
        return normal_pmf(mean, sd, counts), (1 - ndtr((counts - mean) / sd)) / mean
    up_to = int(max(np.max(counts), mean + 12 * np.sqrt(max(dispersion, 1.0) * mean) + 6))
    whole = renewal_pmf(mean, 1 / dispersion, up_to)
    share = whole / np.maximum(np.arange(up_to + 1), 1)
    above = np.cumsum(share[::-1])[::-1]
    partial = np.append(above[1:], 0.0)
    partial[0] += whole[0]
    at = np.rint(counts).astype(np.int64)
    return whole[at], partial[at]


def outlier(mean: float, counts: Array) -> Array:
    """P(count) of a count that is wrong: anything up to six times the mean, or to the largest seen."""
    highest = max(6 * mean, float(np.max(counts)) + 1)
    density: Array = np.where(counts > mean, 1 / (highest - mean), SMALLEST)
    return density
