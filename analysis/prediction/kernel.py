"""The additive kernel of Duvenaud, Nickisch and Rasmussen (2011): a Matern kernel a coordinate, in interactions."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from analysis.arrays import Array, Flags, Indices

ROOT5 = np.sqrt(5.0)
# Interactions of so many coordinates at most: higher ones took time and told nothing more on any file.
ORDERS = 3
# Pairs computed at once: as many as stay in a processor's cache.
PAIRS = 1 << 16
# Rows for which looking levels up takes longer than computing all pairs.
FEW = 8


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """k(x, z) = sum over orders o of w_o e_o(k_1, ..., k_D) / C(D, o); e_o is the elementary symmetric polynomial.

    k_d is Matern 5/2 over numbers; over names it is 1 for equal ones and a learnt constant else. The parameters are
    the logarithms of D lengths and of one weight an order.
    """

    numeric: Flags

    @property
    def size(self) -> int:
        """The number of coordinates, D."""
        return len(self.numeric)

    @property
    def orders(self) -> int:
        """The largest interaction."""
        return min(self.size, ORDERS)

    def start(self) -> Array:
        """Parameters to begin with: lengths of 1 and equal weights that sum to 1."""
        return np.concatenate([np.zeros(self.size), np.full(self.orders, -np.log(self.orders))])

    def matrix(self, x: Array, z: Array, parameters: Array) -> Array:
        """The covariances of all pairs, shape (len(x), len(z))."""
        if len(x) <= FEW:
            apart = x[:, None, :] - z[None, :, :]
            return self._summed(
                [self._of_levels(apart[:, :, at], at, parameters[at])[0] for at in range(self.size)], parameters
            )
        bases = [self._levels(x[:, at], z[:, at], at, parameters[at]) for at in range(self.size)]
        found, step = np.empty((len(x), len(z))), max(1, PAIRS // max(len(z), 1))
        for start in range(0, len(x), step):
            part = slice(start, start + step)
            pairs = [table[rows[part]].take(columns, axis=1) for table, rows, columns in bases]
            found[part] = self._summed(pairs, parameters)
        return found

    def _summed(self, bases: list[Array], parameters: Array) -> Array:
        """The weighted sum over orders of the symmetric polynomials of the coordinates' kernels."""
        sums = [np.zeros_like(bases[0]) for _ in range(self.orders)]
        for at, base in enumerate(bases):
            for order in range(min(at, self.orders - 1), 0, -1):
                sums[order] += base * sums[order - 1]
            sums[0] += base
        return np.asarray(np.tensordot(self._weights(parameters), sums, axes=1))

    def variance(self, parameters: Array) -> float:
        """The prior variance, k(x, x)."""
        return float(np.sum(np.exp(parameters[self.size :])))

    def with_slopes(self, x: Array, parameters: Array) -> tuple[Array, list[Array]]:
        """The matrix of x with itself, and its derivative by each parameter."""
        pairs = [self._with_slope(x[:, at], at, parameters[at]) for at in range(self.size)]
        sums = [np.ones((len(x), len(x))), *(np.zeros((len(x), len(x))) for _ in range(self.orders))]
        for base, _ in pairs:
            for order in range(self.orders, 0, -1):
                sums[order] += base * sums[order - 1]
        weights = self._weights(parameters)
        by_order = [weight * sums[order + 1] for order, weight in enumerate(weights)]
        by_length = []
        for base, slope in pairs:
            others = sums[0]
            total = weights[0] * others
            for order in range(1, self.orders):
                others = sums[order] - base * others  # e_order without this factor
                total = total + weights[order] * others
            by_length.append(total * slope)
        return np.sum(by_order, axis=0), [*by_length, *by_order]

    def _weights(self, parameters: Array) -> Array:
        return np.array([np.exp(w) / comb(self.size, o + 1) for o, w in enumerate(parameters[self.size :])])

    def _levels(self, x: Array, z: Array, at: int, log_length: float) -> tuple[Array, Indices, Indices]:
        """One coordinate's kernel at pairs of levels, which are few, and where to look the pairs of rows up."""
        (x, rows), (z, columns) = np.unique(x, return_inverse=True), np.unique(z, return_inverse=True)
        return self._of_levels(x[:, None] - z[None, :], at, log_length)[0], rows, columns

    def _with_slope(self, x: Array, at: int, log_length: float) -> tuple[Array, Array]:
        """One coordinate's kernel at all pairs of x, and its derivative by the logarithm of its length."""
        levels, rows = np.unique(x, return_inverse=True)
        base, slope = self._of_levels(levels[:, None] - levels[None, :], at, log_length)
        pairs = np.ix_(rows, rows)
        return base[pairs], slope[pairs]

    def _of_levels(self, apart: Array, at: int, log_length: float) -> tuple[Array, Array]:
        if self.numeric[at]:
            far = ROOT5 * np.exp(-log_length) * np.abs(apart)
            near = np.exp(-far)
            return (1 + far + far**2 / 3) * near, far**2 * (1 + far) / 3 * near
        shared = np.exp(-np.exp(-log_length))
        return np.where(apart != 0, shared, 1.0), np.where(apart != 0, shared * np.exp(-log_length), 0.0)
