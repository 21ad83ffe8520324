"""The additive kernel of Duvenaud, Nickisch and Rasmussen (2011): a Matern kernel a factor, in all interactions."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from analysis.arrays import Array, Flags

ROOT3 = np.sqrt(3.0)


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """k(x, z) = sum over orders o of w_o e_o(k_1, ..., k_D) / C(D, o); e_o is the elementary symmetric polynomial.

    k_d is Matern 3/2 over numbers; over names it is 1 for equal ones and a learnt constant else. The parameters are
    the logarithms of D lengths and D weights.
    """

    numeric: Flags

    @property
    def size(self) -> int:
        """The number of factors, D."""
        return len(self.numeric)

    def start(self) -> Array:
        """Parameters to begin with: lengths of 1 and equal weights that sum to 1."""
        return np.concatenate([np.zeros(self.size), np.full(self.size, -np.log(self.size))])

    def matrix(self, x: Array, z: Array, parameters: Array) -> Array:
        """The covariances of all pairs, shape (len(x), len(z))."""
        sums = [np.zeros((len(x), len(z))) for _ in range(self.size)]
        for at in range(self.size):
            base = self._base(x[:, at], z[:, at], at, parameters[at])
            for order in range(at, 0, -1):
                sums[order] += base * sums[order - 1]
            sums[0] += base
        total: Array = np.zeros((len(x), len(z)))
        for order, weight in enumerate(self._weights(parameters)):
            total += weight * sums[order]
        return total

    def variance(self, parameters: Array) -> float:
        """The prior variance, k(x, x)."""
        return float(np.sum(np.exp(parameters[self.size :])))

    def with_slopes(self, x: Array, parameters: Array) -> tuple[Array, list[Array]]:
        """The matrix of x with itself, and its derivative by each parameter."""
        pairs = [
            (self._base(x[:, at], x[:, at], at, parameters[at]), self._slope(x[:, at], at, parameters[at]))
            for at in range(self.size)
        ]
        sums = [np.ones((len(x), len(x))), *(np.zeros((len(x), len(x))) for _ in pairs)]
        for base, _ in pairs:
            for order in range(self.size, 0, -1):
                sums[order] = sums[order] + base * sums[order - 1]
        weights = self._weights(parameters)
        by_order = [weight * sums[order + 1] for order, weight in enumerate(weights)]
        by_length = []
        for base, slope in pairs:
            others = sums[0]
            total = weights[0] * others
            for order in range(1, self.size):
                others = sums[order] - base * others  # e_order without this factor
                total = total + weights[order] * others
            by_length.append(total * slope)
        return np.sum(by_order, axis=0), [*by_length, *by_order]

    def _weights(self, parameters: Array) -> Array:
        return np.array([np.exp(w) / comb(self.size, o + 1) for o, w in enumerate(parameters[self.size :])])

    def _base(self, x: Array, z: Array, at: int, log_length: float) -> Array:
        """One factor's kernel. Factors have few levels: the pairs of levels are computed, those of rows looked up."""
        (x, rows), (z, columns) = np.unique(x, return_inverse=True), np.unique(z, return_inverse=True)
        if self.numeric[at]:
            apart = ROOT3 * np.exp(-log_length) * np.abs(x[:, None] - z[None, :])
            table = (1 + apart) * np.exp(-apart)
        else:
            table = np.where(x[:, None] != z[None, :], np.exp(-np.exp(-log_length)), 1.0)
        return np.asarray(table.take(rows, axis=0).take(columns, axis=1))

    def _slope(self, x: Array, at: int, log_length: float) -> Array:
        """Its derivative by the logarithm of its length, for all pairs of x."""
        levels, rows = np.unique(x, return_inverse=True)
        if self.numeric[at]:
            apart = ROOT3 * np.exp(-log_length) * np.abs(levels[:, None] - levels[None, :])
            table = apart**2 * np.exp(-apart)
        else:
            slope = np.exp(-np.exp(-log_length)) * np.exp(-log_length)
            table = np.where(levels[:, None] != levels[None, :], slope, 0.0)
        return np.asarray(table.take(rows, axis=0).take(rows, axis=1))
