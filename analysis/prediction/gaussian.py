"""Gaussian-process regression of several outputs with one additive kernel and known noise of each row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.optimize import minimize

from analysis.arrays import Array
from analysis.prediction.kernel import Kernel

# Likelihood is maximised on so many rows: what lengths there are shows in a part.
ROWS = 300
STEPS = 30
JITTER = 1e-8


@dataclass(frozen=True, kw_only=True)
class Process:
    """A fitted process; `parameters` are the kernel's, then the logs of the common noise and of the rows' factor."""

    kernel: Kernel
    parameters: Array
    x: Array
    centre: Array
    unit: Array
    factor: Array
    solved: Array

    def mean(self, points: Array) -> Array:
        """Predicted outputs, shape (points, outputs)."""
        near = self.kernel.matrix(points, self.x, self.parameters[:-2])
        return np.asarray(near @ self.solved * self.unit + self.centre)

    def prior(self, points: Array, others: Array) -> Array:
        """The covariances of pairs of points before anything is known of them, the largest being 1 or near it."""
        return self.kernel.matrix(points, others, self.parameters[:-2])

    def mean_and_deviation(self, points: Array) -> tuple[Array, Array]:
        """`mean`, and the standard deviation of the first output without the noise of a sample, shape (points,)."""
        near = self.kernel.matrix(points, self.x, self.parameters[:-2])
        half = solve_triangular(self.factor, near.T, lower=True, check_finite=False)
        variance = self.kernel.variance(self.parameters[:-2]) - np.sum(half**2, axis=0)
        deviation = np.sqrt(np.maximum(variance, 1e-9) + np.exp(self.parameters[-2])) * self.unit[0]
        return np.asarray(near @ self.solved * self.unit + self.centre), np.asarray(deviation)


def learn(kernel: Kernel, x: Array, y: Array, noise: Array, rng: np.random.Generator) -> Array:
    """The parameters of the largest marginal likelihood (Rasmussen and Williams, eq. 5.8), on a part of the rows.

    x is (n, D), y (n, m), noise (n,) the variance that each row's outputs are known to have.
    """
    rows = rng.permutation(len(x))[:ROWS]
    unit = _units(y)
    part, noise = (y[rows] - np.mean(y, axis=0)) / unit, noise[rows] / unit[0] ** 2
    start = np.concatenate([kernel.start(), [np.log(0.01), 0.0]])
    size, orders = kernel.size, kernel.orders
    low = np.concatenate([np.full(size, -3.5), np.full(orders, -9.0), [-12.0, -1.0]])
    high = np.concatenate([np.full(size, 4.0), np.full(orders, 4.0), [1.0, 6.0]])
    loss = _Loss(kernel=kernel, x=x[rows], y=part, noise=noise, start=start)
    found = minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=list(zip(low, high, strict=True)), options={"maxiter": STEPS}
    )
    return np.asarray(found.x)


def fit(kernel: Kernel, parameters: Array, x: Array, y: Array, noise: Array) -> Process:
    """Condition the process on rows, with parameters that `learn` found."""
    unit, centre = _units(y), np.mean(y, axis=0)
    matrix = kernel.matrix(x, x, parameters[:-2])
    matrix[np.diag_indices_from(matrix)] += _noise(parameters, noise / unit[0] ** 2)
    factor = np.asarray(np.linalg.cholesky(matrix), dtype=float)
    solved = cho_solve((factor, True), (y - centre) / unit)
    return Process(
        kernel=kernel, parameters=parameters, x=x, centre=centre, unit=unit, factor=factor, solved=np.asarray(solved)
    )


def _units(y: Array) -> Array:
    return np.asarray(np.maximum(np.std(y, axis=0), 1e-9))


def _noise(parameters: Array, noise: Array) -> Array:
    return np.asarray(np.exp(parameters[-2]) + np.exp(parameters[-1]) * noise + JITTER)


@dataclass(frozen=True, kw_only=True)
class _Loss:
    """Minus the log likelihood of parameters, with a wide normal prior around the start, and its gradient."""

    kernel: Kernel
    x: Array
    y: Array
    noise: Array
    start: Array

    def __call__(self, parameters: Array) -> tuple[float, Array]:
        matrix, slopes = self.kernel.with_slopes(self.x, parameters[:-2])
        matrix = matrix + np.diag(_noise(parameters, self.noise))
        factor = cho_factor(matrix, lower=True)
        solved, inverse = cho_solve(factor, self.y), cho_solve(factor, np.eye(len(self.x)))
        outputs = self.y.shape[1]
        loss = 0.5 * np.sum(self.y * solved) + outputs * np.sum(np.log(np.diag(factor[0])))
        slope = 0.5 * (outputs * inverse - solved @ solved.T)
        common = np.exp(parameters[-2]) * np.trace(slope)
        own = np.exp(parameters[-1]) * np.sum(np.diag(slope) * self.noise)
        gradient = np.array([*(np.sum(slope * one) for one in slopes), common, own])
        away = (parameters - self.start) / 3
        return float(loss + 0.5 * np.sum(away**2)), gradient + away / 3
