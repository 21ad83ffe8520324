"""What to measure next: what lowers the expected error of all that is left most, sure or not where it stands itself."""

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
    """`count` of the rows not measured yet, whose samples would lower the errors to expect of all rows most.

    Errors count in widths of the predicted distributions, as the distance of Kolmogorov and Smirnov does, and no
    more where they are as large as that: what is hopeless does not draw all runs to itself.
    """
    some = _some(len(rows), predictor.seed)
    asked = [rows[at] for at in some]
    found = predictor.predict(asked)
    low, high = predictor.scale.to(found.quantiles[:, [LOW, HIGH]]).T
    factors, process = predictor.measured.factors, predictor.members.median
    width = np.maximum(high - low, 1e-9)
    noise = np.pi / 2 * (width / 2.563) ** 2 / float(np.median(predictor.measured.runs))
    covariance = process.covariance(factors.coordinates(factors.codes(asked)))
    weight = 1 / (width**2 + found.deviation**2)
    return [int(at) for at in some[_least_variance(covariance, noise, weight, min(count, len(some)))]]


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
