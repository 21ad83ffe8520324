"""A conditional inference tree for numbers (Hothorn, Hornik, Zeileis 2006: "Unbiased recursive partitioning").

Each node tests by a permutation test whether the response depends on any covariate at all, with Bonferroni's
correction over the covariates; only then does it split, in the most significant one. So selection is not biased
towards covariates with many values, and no pruning is needed. No kept library exists for Python: this is its
regression case, with the asymptotic form of the permutation distribution.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.special import erfc

from analysis.arrays import Array, Indices

ALPHA = 0.05
MIN_SPLIT, MIN_BUCKET = 20, 7
"""As in the authors' package: samples that a node needs to be split, and that each side keeps."""


@dataclass(frozen=True, kw_only=True)
class Leaf:
    """Samples that nothing tells apart."""

    mean: float
    n: int


@dataclass(frozen=True, kw_only=True)
class Split:
    """`feature <= at` goes left."""

    feature: int
    at: float
    p: float
    """Bonferroni-adjusted."""
    left: Node
    right: Node


Node = Leaf | Split


def p_values(x: Array, y: Array) -> Array:
    """p of the permutation test of each column of `x` with `y`: of the linear statistic sum x_i y_i.

    Given all values, its expectation under permutations is n mean(x) mean(y), its variance
    var(x) var(y) n^2 / (n - 1) (section 3, equations 1 and 2); its limit is normal. 1 for a column that is constant.
    """
    n = len(y)
    centred_x, centred_y = x - x.mean(axis=0), y - y.mean()
    spread = np.sqrt(centred_x.var(axis=0) * centred_y.var() * n**2 / (n - 1))
    constant = spread <= 1e-12 * np.maximum(1.0, np.abs(x).max(axis=0)) * max(1.0, float(np.abs(y).max()))
    z = np.abs(centred_y @ centred_x) / np.where(constant, 1.0, spread)
    found: Array = np.where(constant, 1.0, erfc(z / np.sqrt(2)))
    return found


def bonferroni(p: Array) -> Array:
    """The adjusted p of each covariate: 1 - (1 - p)^m, as in section 3."""
    found: Array = -np.expm1(len(p) * np.log1p(-np.minimum(p, 1 - 1e-16)))
    return found


def best_cut(x: Array, y: Array, min_bucket: int) -> float | None:
    """The cut of the largest standardised two-sample statistic (equation 5), halfway to the next value; None: none."""
    order = np.argsort(x, kind="stable")
    values, responses = x[order], y[order] - y.mean()
    n = len(y)
    left = np.arange(1, n)
    allowed = (values[:-1] < values[1:]) & (left >= min_bucket) & (n - left >= min_bucket)
    if not allowed.any():
        return None
    sums = np.cumsum(responses)[:-1]
    statistic = np.where(allowed, np.abs(sums) / np.sqrt(left * (n - left)), -1.0)
    place = int(np.argmax(statistic))
    return float((values[place] + values[place + 1]) / 2)


@dataclass(kw_only=True)
class ConditionalInferenceTree:
    """The interface of a regressor: `fit(x, y)`, then `predict(x)`."""

    alpha: float = ALPHA
    min_split: int = MIN_SPLIT
    min_bucket: int = MIN_BUCKET
    root: Node = field(default_factory=lambda: Leaf(mean=0.0, n=0), init=False)

    def fit(self, x: Array, y: Array) -> ConditionalInferenceTree:
        self.root = self._grown(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))
        return self

    def predict(self, x: Array) -> Array:
        x = np.asarray(x, dtype=np.float64)
        found = np.empty(len(x))
        _fill(self.root, x, np.arange(len(x)), found)
        return found

    def _grown(self, x: Array, y: Array) -> Node:
        leaf = Leaf(mean=float(y.mean()), n=len(y))
        if len(y) < self.min_split:
            return leaf
        p = bonferroni(p_values(x, y))
        for feature in np.argsort(p, kind="stable"):
            if p[feature] > self.alpha:
                break
            at = best_cut(x[:, feature], y, self.min_bucket)
            if at is None:
                continue
            left = x[:, feature] <= at
            return Split(
                feature=int(feature),
                at=at,
                p=float(p[feature]),
                left=self._grown(x[left], y[left]),
                right=self._grown(x[~left], y[~left]),
            )
        return leaf


def _fill(node: Node, x: Array, places: Indices, found: Array) -> None:
    if isinstance(node, Leaf):
        found[places] = node.mean
        return
    left = x[places, node.feature] <= node.at
    _fill(node.left, x, places[left], found)
    _fill(node.right, x, places[~left], found)
