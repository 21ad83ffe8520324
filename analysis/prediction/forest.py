"""Extremely randomised trees as weights over the measured configurations (Geurts et al. 2006; Meinshausen 2006)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from analysis.arrays import Array, Indices
from analysis.prediction.extras import extra_trees
from analysis.prediction.quantiles import LEVELS

# Of each distribution in a pool so many quantiles, of so many distributions: 0.3 ms a point.
POOLED_LEVELS = slice(1, None, 4)
POOLED = 100


@dataclass(frozen=True, kw_only=True)
class Forest:
    """Grown trees, and who of the measured ended in which of their leaves."""

    # scikit-learn's trees, and the place of each one's first node among the nodes of all.
    trees: tuple[Any, ...]
    roots: Indices
    # (nodes, measured): the share of a leaf that each measured configuration holds, divided by the number of trees.
    shares: sparse.csr_matrix

    @classmethod
    def fit(cls, features: Array, targets: Array, *, trees: int, leaf: int, seed: int, processes: int = 1) -> Forest:
        """Grow trees that split the features, shape (n, d), where the targets, shape (n, m), differ most."""
        grown = extra_trees(trees, leaf, seed, processes).fit(features, targets)
        parts = tuple(tree.tree_ for tree in grown.estimators_)
        roots = np.cumsum([0, *(part.node_count for part in parts)])
        bare = cls(trees=parts, roots=roots, shares=sparse.csr_matrix((0, 0)))
        ends = bare._ends(features)
        held = 1 / np.maximum(np.asarray(ends.sum(axis=0)).ravel(), 1)
        return replace(bare, shares=sparse.csr_matrix((ends @ sparse.diags_array(held / trees)).T))

    def weights(self, features: Array) -> sparse.csr_matrix:
        """How much each measured configuration says about each row, shape (rows, measured); rows sum to 1."""
        return sparse.csr_matrix(self._ends(features) @ self.shares)

    def _ends(self, features: Array) -> sparse.csr_matrix:
        """1 where a row, (rows, nodes), ends in a leaf."""
        single = np.ascontiguousarray(features, dtype=np.float32)  # what scikit-learn compares with its thresholds
        at = np.stack([tree.apply(single) for tree in self.trees], axis=1) + self.roots[:-1]
        starts = np.arange(len(single) + 1) * len(self.trees)
        return sparse.csr_matrix((np.ones(at.size), at.ravel(), starts), shape=(len(single), self.roots[-1]))


def pooled(weights: sparse.csr_matrix, quantiles: Array) -> Array:
    """The quantiles of the mixture of measured distributions: wide where they disagree on where they lie."""
    found = np.empty((weights.shape[0], len(LEVELS)))
    some = quantiles[:, POOLED_LEVELS]
    for row in range(len(found)):
        span = slice(weights.indptr[row], weights.indptr[row + 1])
        heaviest = np.argsort(-weights.data[span], kind="stable")[:POOLED]
        values = some[weights.indices[span][heaviest]]
        weight = np.repeat(weights.data[span][heaviest], values.shape[1])
        order = np.argsort(values, axis=None, kind="stable")
        reached = np.cumsum(weight[order])
        levels = (reached - weight[order] / 2) / reached[-1]
        found[row] = np.interp(LEVELS, levels, values.ravel()[order])
    return found
