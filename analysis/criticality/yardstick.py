"""Gradient-boosted trees: what a model of no particular form makes of the same counters. Needs the extra `learning`."""

from __future__ import annotations

import numpy as np

from analysis.arrays import Array, Flags


def chances(x: Array, y: Flags, held_back: Array, *, seed: int) -> Array:
    """(m,) probabilities for held back samples, learnt from (n, d) values and labels. Raises ImportError."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=100,
        learning_rate=0.06,
        max_leaf_nodes=15,
        min_samples_leaf=20,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=seed,
    )
    chance: Array = np.asarray(model.fit(x, y).predict_proba(held_back)[:, 1], dtype=np.float64)
    return chance
