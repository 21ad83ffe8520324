"""Two samples of one configuration: what moved, how far apart they are, and what chance does not explain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import false_discovery_control, kstwo, wasserstein_distance

from analysis.arrays import Array
from analysis.comparison.shifts import Shift, shift
from analysis.errors import BadOptionsError, BadSampleError

QUANTILES = (0.1, 0.5, 0.9)
FEWEST = 5
"""With fewer values a quantile's interval is the range of the sample, and says nothing."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Sample B beside sample A. Distances are symmetric; shifts are B less A, in the unit of the values."""

    n_a: int
    n_b: int
    shifts: tuple[Shift, ...]
    """One a quantile asked for, in order."""
    wasserstein: float
    """Area between the two empirical distribution functions, in the unit of the values."""
    ks: float
    """Largest vertical distance between them."""
    ks_p: float
    """Of the two-sample Kolmogorov-Smirnov test; ties make it conservative."""


@dataclass(frozen=True, kw_only=True)
class FalseDiscovery:
    """Benjamini-Hochberg values of one comparison among all that were made together."""

    ks: float
    shifts: tuple[float, ...]
    """Of each quantile, over the same quantile of all comparisons."""


def compare(
    a: ArrayLike, b: ArrayLike, *, quantiles: Sequence[float] = QUANTILES, confidence: float = 0.95
) -> Comparison:
    """Compare two samples of at least five finite values each, taken to be independent runs.

    Raises BadSampleError and BadOptionsError.
    """
    ascending = _ascending(a), _ascending(b)
    _check(quantiles, confidence)
    distance = _ks(*ascending)
    return Comparison(
        n_a=len(ascending[0]),
        n_b=len(ascending[1]),
        shifts=tuple(shift(*ascending, q, confidence=confidence) for q in quantiles),
        wasserstein=float(wasserstein_distance(*ascending)),
        ks=distance,
        ks_p=_ks_p(distance, round(len(ascending[0]) * len(ascending[1]) / (len(ascending[0]) + len(ascending[1])))),
    )


def false_discovery(compared: Sequence[Comparison]) -> list[FalseDiscovery]:
    """For each comparison its Benjamini-Hochberg values over all of them."""
    if not compared:
        return []
    of_ks = false_discovery_control([one.ks_p for one in compared])
    of_shifts = false_discovery_control([[shift.p for shift in one.shifts] for one in compared], axis=0)
    return [
        FalseDiscovery(ks=float(ks), shifts=tuple(shifts.tolist())) for ks, shifts in zip(of_ks, of_shifts, strict=True)
    ]


def _ks(a: Array, b: Array) -> float:
    """The largest distance between the empirical distribution functions of two ascending samples."""
    both = np.concatenate([a, b])
    apart = np.searchsorted(a, both, side="right") / len(a) - np.searchsorted(b, both, side="right") / len(b)
    return float(np.max(np.abs(apart)))


@lru_cache(maxsize=65_536)
def _ks_p(distance: float, n: int) -> float:
    """Its p-value at the effective sample size n: the exact one fails on ties, and hardly differs at 30 values.

    Samples of n values each have n + 1 distances, while scipy takes milliseconds for one: it is kept.
    """
    return float(np.clip(kstwo.sf(distance, n), 0.0, 1.0))


def _ascending(values: ArrayLike) -> Array:
    sample = np.sort(np.asarray(values, dtype=np.float64).ravel())
    if len(sample) < FEWEST:
        raise BadSampleError(f"{len(sample)} values are too few to compare: {FEWEST} are needed")
    if not np.all(np.isfinite(sample)):
        raise BadSampleError("a value is not a finite number")
    return sample


def _check(quantiles: Sequence[float], confidence: float) -> None:
    if not quantiles or not all(0 < q < 1 for q in quantiles):
        raise BadOptionsError("quantiles lie between 0 and 1, both excluded, and there is at least one")
    if not 0 < confidence < 1:
        raise BadOptionsError(f"the confidence {confidence} does not lie between 0 and 1")
