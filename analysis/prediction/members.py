"""Six predictors of a distribution, which `stack` weighs: trees and Gaussian processes, averaged in two ways.

Averaging quantiles keeps a distribution sharp and moves it between its neighbours; pooling distributions keeps modes
where they are, and is wide where neighbours disagree. Which is right depends on the machine: cross-validation tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from analysis.arrays import Array, Indices
from analysis.prediction import gaussian
from analysis.prediction.factors import Factors
from analysis.prediction.forest import Forest, pooled
from analysis.prediction.gaussian import Process
from analysis.prediction.kernel import Kernel
from analysis.prediction.quantiles import HIGH, LEVELS, LOW, MEDIAN

# Trees see these levels: ten outputs tell where, how wide and of which shape a distribution is.
SPLIT_LEVELS = slice(4, None, 10)
SHAPES = 8
# Configurations in a leaf of coarse trees: what many neighbours agree on.
COARSE = 3
# The processes condition on so many configurations at most: their cost grows with the cube.
ROWS = 2000


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The measured configurations as numbers: coordinates, quantiles on the averaging scale, runs in each."""

    factors: Factors
    codes: Array
    quantiles: Array
    runs: Array

    def part(self, rows: Indices) -> Self:
        """Some of the configurations, under the same factors."""
        return type(self)(
            factors=self.factors, codes=self.codes[rows], quantiles=self.quantiles[rows], runs=self.runs[rows]
        )

    @property
    def features(self) -> Array:
        """What trees split on, shape (n, features)."""
        return self.factors.features(self.codes)

    @property
    def scaled(self) -> Array:
        """Coordinates in standard deviations of the levels, shape (n, factors)."""
        return self.factors.scaled(self.codes)

    @property
    def coordinates(self) -> Array:
        """What processes measure distances in, shape (n, coordinates)."""
        return self.factors.coordinates(self.codes)

    @property
    def medians(self) -> Array:
        """The median of each."""
        return np.asarray(self.quantiles[:, MEDIAN])

    @property
    def log_spread(self) -> Array:
        """The log of the distance from the lowest to the highest decile, shape (n,)."""
        spread = self.quantiles[:, HIGH] - self.quantiles[:, LOW]
        return np.asarray(np.log(np.maximum(spread, 1e-4 * max(float(np.std(self.medians)), 1e-9))))

    @property
    def median_variance(self) -> Array:
        """The variance of a sample's median: pi sd^2 / 2 n, the sd from the deciles of a normal distribution."""
        return np.asarray(np.pi / 2 * (np.exp(self.log_spread) / 2.563) ** 2 / self.runs)


@dataclass(frozen=True, kw_only=True)
class Lengths:
    """The learnt parameters of both processes: of the median, and of width and shape."""

    median: Array
    shape: Array

    @classmethod
    def learn(cls, measured: Measured, seed: int) -> Lengths:
        """Maximise both likelihoods."""
        kernel = Kernel(numeric=measured.factors.smooth)
        rng = np.random.default_rng(seed)
        median = gaussian.learn(kernel, measured.coordinates, measured.medians[:, None], measured.median_variance, rng)
        outputs, noise, _ = _shapes(measured)
        return cls(median=median, shape=gaussian.learn(kernel, measured.coordinates, outputs[:, :5], noise, rng))


@dataclass(frozen=True, kw_only=True)
class Members:
    """The six predictors, fitted."""

    measured: Measured
    trees: Forest
    coarse: Forest
    residual: Forest
    residuals: Array
    median: Process
    shape: Process
    basis: Array

    @classmethod
    def fit(cls, measured: Measured, lengths: Lengths, *, trees: int, seed: int, processes: int) -> Members:
        """Fit them all to the measured configurations."""
        features, quantiles = measured.features, measured.quantiles
        median, shape, basis = _processes(measured, lengths, seed)
        residuals = quantiles - median.mean(measured.coordinates)

        def grown(targets: Array, leaf: int, salt: int) -> Forest:
            return Forest.fit(
                features, targets[:, SPLIT_LEVELS], trees=trees, leaf=leaf, seed=seed + salt, processes=processes
            )

        return cls(
            measured=measured,
            trees=grown(quantiles, 1, 0),
            coarse=grown(quantiles, COARSE, 1),
            residual=grown(residuals, 1, 2),
            residuals=residuals,
            median=median,
            shape=shape,
            basis=basis,
        )

    def predict(self, codes: Array) -> tuple[Array, Array]:
        """Quantiles by each member, shape (members, rows, 99), and the process's standard deviation of the median."""
        features, points = self.measured.factors.features(codes), self.measured.factors.coordinates(codes)
        median, deviation = self.median.mean_and_deviation(points)
        quantiles = self.measured.quantiles
        trees, coarse, residual = (forest.weights(features) for forest in (self.trees, self.coarse, self.residual))
        found = [
            trees @ quantiles,
            pooled(trees, quantiles),
            pooled(coarse, quantiles),
            median + self._shape(points),
            # What the process of the median leaves over, by trees.
            median + residual @ self.residuals,
            median + pooled(residual, self.residuals),
        ]
        return np.maximum.accumulate(np.stack(found), axis=2), deviation

    def _shape(self, points: Array) -> Array:
        """Quantiles less their median: a width times a shape."""
        outputs = self.shape.mean(points)
        return np.asarray(np.exp(outputs[:, :1]) * (self.basis[0] + outputs[:, 1:] @ self.basis[1:]))


def _processes(measured: Measured, lengths: Lengths, seed: int) -> tuple[Process, Process, Array]:
    if len(measured.codes) > ROWS:
        measured = measured.part(np.random.default_rng(seed).permutation(len(measured.codes))[:ROWS])
    kernel, x = Kernel(numeric=measured.factors.smooth), measured.coordinates
    outputs, noise, basis = _shapes(measured)
    median = gaussian.fit(kernel, lengths.median, x, measured.medians[:, None], measured.median_variance)
    return median, gaussian.fit(kernel, lengths.shape, x, outputs, noise), basis


def _shapes(measured: Measured) -> tuple[Array, Array, Array]:
    """Log width and principal components of the shape; their noise; the mean shape and the components' directions."""
    spread = measured.log_spread
    shapes = (measured.quantiles - measured.medians[:, None]) / np.exp(spread)[:, None]
    centre = np.mean(shapes, axis=0)
    directions = np.linalg.svd(shapes - centre, full_matrices=False)[2][: min(SHAPES, len(shapes), len(LEVELS))]
    outputs = np.column_stack([spread, (shapes - centre) @ directions.T])
    # The log of a width from n runs of a normal distribution has a variance near 1.2 / n.
    return outputs, 1.2 / measured.runs, np.vstack([centre, directions])
