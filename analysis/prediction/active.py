"""What to measure next: at first what fills the space, then what stands for most of all that is left."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.arrays import Array, Indices
from analysis.prediction.factors import Factors
from analysis.prediction.kernel import Kernel
from analysis.prediction.predictor import Predictor
from analysis.prediction.quantiles import HIGH, LOW

# Candidates looked at, drawn at random where there are more: the cost is their square for each one chosen.
CANDIDATES = 1500
# Before anything is measured: the variance of a sample's own noise, the process's being 1.
NOISE = 0.1


def spread_out(names: Sequence[str], rows: Sequence[Sequence[str]], count: int, *, seed: int) -> list[int]:
    """`count` of the rows that tell most of all others, for a process that varies with every factor alike.

    The design of least mean variance: it fills the space, and repeats no level more than others.
    """
    factors = Factors.of(names, rows)
    some = _some(len(rows), seed)
    kernel, points = Kernel(numeric=factors.numeric), factors.measured[some]
    covariance = kernel.matrix(points, points, kernel.start())
    found = _least_variance(covariance, np.full(len(some), NOISE), np.ones(len(some)), min(count, len(some)))
    return [int(at) for at in some[found]]


def choose(predictor: Predictor, rows: Sequence[Sequence[str]], count: int) -> list[int]:
    """`count` of the rows not measured yet, so that every row is as alike to a measured one as can be.

    Alike by the covariances that the process of the median learnt: settings that differ in factors which hardly
    matter stand for one another, and runs go where behaviour changes from one level to the next.
    """
    some = _some(len(rows), predictor.seed)
    process, factors = predictor.members.median, predictor.measured.factors
    points = factors.coordinates(factors.codes([rows[at] for at in some]))
    known = np.max(process.prior(points, predictor.measured.coordinates), axis=1)
    return [int(at) for at in some[_standing_for_all(process.prior(points, points), known, min(count, len(some)))]]


def expected_distance(predictor: Predictor, rows: Sequence[Sequence[str]]) -> Array:
    """The distance of Kolmogorov and Smirnov to expect from a shift of the median by its deviation, shape (rows,)."""
    found = predictor.predict(rows)
    low, high = predictor.scale.to(found.quantiles[:, [LOW, HIGH]]).T
    return np.asarray(1 - np.exp(-found.deviation / np.maximum(high - low, 1e-9)))


def _some(count: int, seed: int) -> Indices:
    return np.sort(np.random.default_rng(seed).permutation(count)[:CANDIDATES])


def _least_variance(covariance: Array, noise: Array, weight: Array, count: int) -> Indices:
    """Greedy: each choice lowers the weighted sum of variances most, given those before it (Krause et al. 2008)."""
    left = covariance.copy()
    chosen: list[int] = []
    for _ in range(count):
        told = weight @ left**2 / (np.diag(left) + noise)
        told[chosen] = -1.0
        best = int(np.argmax(told))
        chosen.append(best)
        left -= np.outer(left[best], left[best]) / (left[best, best] + noise[best])
    return np.array(chosen, dtype=np.int64)


def _standing_for_all(alike: Array, known: Array, count: int) -> Indices:
    """Greedy facility location (Nemhauser et al. 1978): each choice adds most to what all have in common with any."""
    chosen: list[int] = []
    for _ in range(count):
        gain = np.sum(np.maximum(alike - known, 0.0), axis=1)
        gain[chosen] = -1.0
        chosen.append(int(np.argmax(gain)))
        known = np.maximum(known, alike[chosen[-1]])
    return np.array(chosen, dtype=np.int64)
