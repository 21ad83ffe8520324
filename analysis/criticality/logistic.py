"""Logistic regression with a ridge penalty, by Newton's method; small enough to run without any library of learning."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array

STEPS = 50
TOLERANCE = 1e-8
BLOCK = 100_000
"""Rows at a time, so that weighted copies of the measurements stay small."""


@dataclass(frozen=True, kw_only=True)
class Weights:
    """Coefficients, the intercept first, and the curvature of the penalised likelihood there."""

    values: Array
    """(1 + d,)."""
    curvature: Array
    """(1 + d, 1 + d)."""

    def logit(self, x: Array) -> Array:
        """(n,) the logarithm of the odds for (n, d) scaled values."""
        logit: Array = self.values[0] + x @ self.values[1:]
        return logit

    def updated(self, x: Array, y: Array) -> Weights:
        """After one more labelled round: a Newton step on its samples alone, with all earlier ones as the prior."""
        design = _design(x)
        expected = probability(design @ self.values)
        curvature = self.curvature + (design * (expected * (1 - expected))[:, None]).T @ design
        step = np.linalg.solve(curvature, design.T @ (y - expected))
        return Weights(values=self.values + step, curvature=curvature)


def probability(logit: Array) -> Array:
    """1 / (1 + exp(-logit)), without overflow."""
    chance: Array = 0.5 * (1 + np.tanh(0.5 * logit))
    return chance


def fitted(x: Array, y: Array, *, ridge: float) -> Weights:
    """The weights that maximise the likelihood of (n,) labels 0 or 1 less ridge / 2 times their squares.

    The intercept is not penalised. Steps are halved where they would not climb.
    """
    penalty = np.full(x.shape[1] + 1, ridge)
    rate = np.clip(np.mean(y), 0.5 / max(len(y), 1), 1 - 0.5 / max(len(y), 1))
    penalty[0] = 1e-9  # keeps the curvature regular where all labels are alike
    weights = np.zeros(x.shape[1] + 1)
    weights[0] = np.log(rate / (1 - rate))
    value, gradient, curvature = _climb(x, y, weights, penalty)
    for _ in range(STEPS):
        step = np.linalg.solve(curvature, gradient)
        if float(gradient @ step) < TOLERANCE:
            break
        length = 1.0
        while length > 1e-6:
            there = _climb(x, y, weights + length * step, penalty)
            if there[0] >= value:
                break
            length /= 2
        else:
            break
        weights = weights + length * step
        value, gradient, curvature = there
    return Weights(values=weights, curvature=curvature)


def _climb(x: Array, y: Array, weights: Array, penalty: Array) -> tuple[float, Array, Array]:
    """The penalised log likelihood, its gradient and its negative second derivatives."""
    value = -0.5 * float(penalty @ weights**2)
    gradient, curvature = -penalty * weights, np.diag(penalty)
    for start in range(0, len(x), BLOCK):
        design, labels = _design(x[start : start + BLOCK]), y[start : start + BLOCK]
        logit = design @ weights
        expected = probability(logit)
        value += float(np.sum(labels * logit - np.logaddexp(0, logit)))
        gradient = gradient + design.T @ (labels - expected)
        curvature = curvature + (design * (expected * (1 - expected))[:, None]).T @ design
    return value, gradient, curvature


def _design(x: Array) -> Array:
    return np.column_stack([np.ones(len(x)), x])
