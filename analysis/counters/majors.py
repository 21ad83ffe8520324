"""Which counters are major: Spearman correlation with the target, and loadings of principal components.

The papers publish no thresholds; ours stand here, and in docs/counters.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from analysis.arrays import Array, Flags

SPEARMAN_P = 0.05
"""A counter is major when its rank correlation with the target has a smaller p than this ..."""
EIGENVALUE = 1.0
"""... or when it loads on a principal component (of the standardised rates) with a larger eigenvalue than this, ..."""
LOADING = 0.5
"""... by at least this, as a correlation with the component, ..."""
COMPONENT_P = 0.05
"""... and the component itself is correlated with the target at this p."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Majors:
    """For each counter: its rank correlation with the target, its largest loading, and whether it is major."""

    spearman: Array
    p: Array
    loading: Array
    """On the component where it is largest, among those that count."""
    component: tuple[int, ...]
    """Which component that is, from 1; 0 where none counts."""
    chosen: Flags


def majors(rates: Array, y: Array) -> Majors:
    """Choose by both; columns of `rates` vary."""
    correlation, p = spearman(rates, y)
    loadings, scores = components(rates)
    counting = np.asarray(spearman(scores, y)[1] <= COMPONENT_P, dtype=np.float64)
    heavy: Array = np.abs(loadings) * counting
    loading = heavy.max(axis=1, initial=0.0)
    component = tuple(int(k) + 1 if at > 0 else 0 for k, at in zip(_places(heavy), loading, strict=True))
    return Majors(
        spearman=correlation,
        p=p,
        loading=loading,
        component=component,
        chosen=(p <= SPEARMAN_P) | (loading >= LOADING),
    )


def spearman(columns: Array, y: Array) -> tuple[Array, Array]:
    """Rank correlation of each column with `y`, and its two-sided p (Student's t); 0 and 1 for a constant column."""
    n = len(y)
    ranks, of_y = stats.rankdata(columns, axis=0), stats.rankdata(y)
    ranks, of_y = ranks - ranks.mean(axis=0), of_y - of_y.mean()
    size = np.sqrt((ranks**2).sum(axis=0) * (of_y**2).sum())
    correlation = np.divide(of_y @ ranks, size, out=np.zeros(len(size)), where=size > 0)
    t = np.abs(correlation) * np.sqrt((n - 2) / np.maximum(1 - correlation**2, 1e-300))
    return correlation, np.asarray(2 * stats.t.sf(t, n - 2))


def components(rates: Array) -> tuple[Array, Array]:
    """Loadings (counters x components) and scores (samples x components) of those with a large eigenvalue."""
    if not rates.shape[1]:
        return np.empty((0, 0)), np.empty((len(rates), 0))
    standard = (rates - rates.mean(axis=0)) / rates.std(axis=0)
    left, sizes, right = np.linalg.svd(standard, full_matrices=False)
    eigenvalues = sizes**2 / len(rates)
    kept = eigenvalues > EIGENVALUE
    return right[kept].T * np.sqrt(eigenvalues[kept]), left[:, kept] * sizes[kept]


def _places(heavy: Array) -> list[int]:
    return [0] * len(heavy) if not heavy.shape[1] else [int(k) for k in np.argmax(heavy, axis=1)]
