"""scikit-learn, which only predictions need: imported when it is used, with one line where it is missing."""

from __future__ import annotations

from typing import Any

from analysis.errors import AnalysisError


class NoLearningError(AnalysisError):
    """Predictions need scikit-learn: install the extra `learning` (make install EXTRAS=learning)."""


def extra_trees(trees: int, leaf: int, seed: int, processes: int) -> Any:
    """Extremely randomised regression trees with `leaf` rows in a leaf or more. Raises `NoLearningError`."""
    try:
        from sklearn.ensemble import ExtraTreesRegressor
    except ImportError as error:
        raise NoLearningError from error
    return ExtraTreesRegressor(trees, min_samples_leaf=leaf, random_state=seed, n_jobs=processes)
