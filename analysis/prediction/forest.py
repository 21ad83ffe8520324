"""Extremely randomised trees as weights over the measured configurations (Geurts et al. 2006; Meinshausen 2006)."""

from __future__ import annotations

from dataclasses import dataclass

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
    """Trees, flattened into arrays over all their nodes, and who of the measured ended in which leaf."""

    roots: Indices
    left: Indices
    right: Indices
    feature: Indices
    threshold: Array
    # (measured, nodes): the share of a leaf that each measured configuration holds, divided by the number of trees.
    shares: sparse.csc_matrix

    @classmethod
    def fit(cls, features: Array, targets: Array, *, trees: int, leaf: int, seed: int, processes: int = 1) -> Forest:
        """Grow trees that split the features, shape (n, d), where the targets, shape (n, m), differ most."""
        grown = extra_trees(trees, leaf, seed, processes).fit(features, targets)
        parts = [tree.tree_ for tree in grown.estimators_]
        roots = np.concatenate([[0], np.cumsum([part.node_count for part in parts])[:-1]])
        left = np.concatenate(
            [np.where(p.children_left < 0, -1, p.children_left + r) for p, r in zip(parts, roots, strict=True)]
        )
        right = np.concatenate(
            [np.where(p.children_right < 0, -1, p.children_right + r) for p, r in zip(parts, roots, strict=True)]
        )
        bare = cls(
            roots=roots,
            left=left,
            right=right,
            feature=np.concatenate([part.feature for part in parts]),
            threshold=np.concatenate([part.threshold for part in parts]),
            shares=sparse.csc_matrix((0, 0)),
        )
        ends = bare._ends(features)
        held = 1 / np.maximum(np.asarray(ends.sum(axis=0)).ravel(), 1)
        shares = (ends @ sparse.diags_array(held / trees)).tocsc()
        return cls(**{**vars(bare), "shares": shares})

    def weights(self, features: Array) -> sparse.csr_matrix:
        """How much each measured configuration says about each row, shape (rows, measured); rows sum to 1."""
        return sparse.csr_matrix(self._ends(features) @ self.shares.T)

    def _ends(self, features: Array) -> sparse.csr_matrix:
        """1 where a row, (rows, nodes), ends in a leaf."""
        single = features.astype(np.float32)  # what scikit-learn compares with its thresholds
        rows = np.arange(len(single))[:, None]
        at = np.broadcast_to(self.roots, (len(single), len(self.roots))).copy()
        while True:
            inner = self.left[at] >= 0
            if not inner.any():
                break
            goes_left = single[rows, np.maximum(self.feature[at], 0)] <= self.threshold[at]
            at = np.where(inner, np.where(goes_left, self.left[at], self.right[at]), at)
        ones = np.ones(at.size)
        starts = np.arange(len(single) + 1) * len(self.roots)
        return sparse.csr_matrix((ones, at.ravel(), starts), shape=(len(single), len(self.left)))


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
