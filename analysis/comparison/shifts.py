"""By how much did a quantile move between two samples? Answered by the exact bootstrap, which draws nothing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import betainc

from analysis.arrays import Array

NEGLIGIBLE = 1e-9
"""Order statistics that a resample's quantile is with less than this chance are left out, on either side."""


@dataclass(frozen=True, kw_only=True)
class Shift:
    """Of one quantile from sample A to sample B, in the unit of the values, with a confidence interval."""

    q: float
    a: float
    b: float
    low: float
    high: float
    p: float
    """Two-sided: twice the chance that resampling both samples turns the sign of the difference."""

    @property
    def difference(self) -> float:
        """B less A."""
        return self.b - self.a


def shift(a: Array, b: Array, q: float, *, confidence: float) -> Shift:
    """The shift of quantile `q` between two ascending samples.

    The quantile of a resample of n values is the j-th smallest value with a probability that is known: the mass of a
    beta distribution with parameters (n + 1) q and (n + 1) (1 - q) between (j - 1) / n and j / n (Efron, "The
    jackknife, the bootstrap and other resampling plans", 1982, section 10.3; the parameters are Harrell and Davis's,
    1982). The bootstrap distribution of the difference is thus a finite sum, and its interval needs no seed.
    """
    (values_a, weights_a), (values_b, weights_b) = _quantile_of_resamples(a, q), _quantile_of_resamples(b, q)
    atoms = np.subtract.outer(values_b, values_a).ravel()
    order = np.argsort(atoms, kind="stable")
    atoms, below = atoms[order], np.cumsum(np.multiply.outer(weights_b, weights_a).ravel()[order])
    tail = (1 - confidence) / 2
    low, high = atoms[np.minimum(np.searchsorted(below, [tail, 1 - tail]), len(atoms) - 1)]
    not_above = _mass(below, int(np.searchsorted(atoms, 0.0, side="right")))
    not_below = 1 - _mass(below, int(np.searchsorted(atoms, 0.0, side="left")))
    at_a, at_b = float(np.quantile(a, q)), float(np.quantile(b, q))
    return Shift(
        q=q, a=at_a, b=at_b, low=float(low), high=float(high),
        p=min(1.0, max(NEGLIGIBLE, 2 * min(not_above, not_below))),
    )  # fmt: skip


def _mass(below: Array, count: int) -> float:
    """Of the first `count` atoms."""
    return float(below[count - 1]) if count else 0.0


def _quantile_of_resamples(ascending: Array, q: float) -> tuple[Array, Array]:
    """The values that the quantile of a resample may have, and the probability of each."""
    first, weights = _weights(len(ascending), q)
    return ascending[first : first + len(weights)], weights


@lru_cache(maxsize=256)
def _weights(n: int, q: float) -> tuple[int, Array]:
    """Place of the first order statistic that counts, and the weights from there on; they sum to 1."""
    mass = np.diff(betainc((n + 1) * q, (n + 1) * (1 - q), np.arange(n + 1) / n))
    counts = np.flatnonzero(mass > NEGLIGIBLE)
    kept = mass[counts[0] : counts[-1] + 1]
    return int(counts[0]), kept / kept.sum()
