"""Distributions as 99 quantiles, on the scale on which they are averaged; how far two of them are apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from analysis.arrays import Array

LEVELS: Array = np.arange(1, 100) / 100
MEDIAN, LOW, HIGH = 49, 9, 89
# Two values closer than this, on the logarithmic scale, are one: where a distribution jumps.
TIE = 1e-9


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Logarithms where all values are positive, as throughputs are; else the values themselves."""

    is_log: bool

    @classmethod
    def of(cls, samples: Sequence[ArrayLike]) -> Scale:
        """The scale for these samples."""
        return cls(is_log=all(float(np.min(sample)) > 0 for sample in samples))

    def to(self, values: ArrayLike) -> Array:
        """Values on this scale."""
        found = np.asarray(values, dtype=float)
        return np.log(found) if self.is_log else found

    def back(self, scaled: Array) -> Array:
        """The values again."""
        return np.exp(scaled) if self.is_log else scaled


def of_sample(values: ArrayLike) -> Array:
    """The quantiles of a sample at `LEVELS` (Hazen's, unbiased for the median)."""
    return np.asarray(np.quantile(np.asarray(values, dtype=float), LEVELS, method="hazen"))


def ks_distance(quantiles: Array, sample: Array) -> float:
    """The Kolmogorov-Smirnov distance between predicted quantiles and a sorted sample, on one scale.

    The predicted distribution is linear between its quantiles and jumps where they are equal.
    """
    size = TIE * max(1.0, float(np.max(np.abs(sample))))
    rising = quantiles + np.arange(len(quantiles)) * size / 1000
    above = np.interp(sample + size, rising, LEVELS, left=0.0, right=1.0)
    below = np.interp(sample - size, rising, LEVELS, left=0.0, right=1.0)
    ranks = np.arange(len(sample) + 1) / len(sample)
    return float(max(np.max(ranks[1:] - above), np.max(below - ranks[:-1])))


def excess_crps(quantiles: Array, sample: Array) -> float:
    """The integral of the squared distance of both distribution functions: CRPS above that of the sample itself."""
    points = np.unique(np.concatenate([quantiles, sample]))
    middle = (points[1:] + points[:-1]) / 2
    empirical = np.searchsorted(sample, middle) / len(sample)
    rising = np.maximum.accumulate(quantiles)
    predicted = np.interp(middle, rising, LEVELS, left=0.0, right=1.0)
    return float(np.sum((predicted - empirical) ** 2 * np.diff(points)))


def rough_ks(quantiles: Array, measured: Array) -> float:
    """`ks_distance` from the quantiles of both: what weights are learnt with."""
    return float(np.max(np.abs(np.interp(measured, quantiles, LEVELS, left=0.0, right=1.0) - LEVELS)))
