"""The ten methods of the paper, by name: how each is made. All learn log targets from the same features.

Libraries: scikit-learn, `xgboost`, `cubist` (GPL 3, therefore only in the extra `counters`), `mars-earth` (imports as
pymars); the conditional inference tree is our own. What is tuned is tuned inside the training samples.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np

from analysis.arrays import Array, Indices
from analysis.counters.errors import MissingLibraryError
from analysis.counters.inference_tree import ConditionalInferenceTree

TREES = 200
MOST_FOLDS = 5


class Regressor(Protocol):
    """What every method offers."""

    def fit(self, x: Array, y: Array, /) -> object: ...

    def predict(self, x: Array, /) -> Array: ...


Maker = Callable[[int, Indices], Regressor]
"""Seed, and the group of each training sample (what one tunes with never splits a group)."""


def require() -> None:
    """Raise MissingLibraryError where a library of the ten is not installed."""
    for name in ("sklearn", "xgboost", "cubist", "pymars"):
        if find_spec(name) is None:
            raise MissingLibraryError(
                f"comparing the ten methods needs {name}: install the extra `counters` (make install EXTRAS=counters)"
            )


def folds(groups: Indices, seed: int, most: int = MOST_FOLDS) -> list[tuple[Indices, Indices]]:
    """Training and held-out places; a group is never on both sides."""
    different = np.random.default_rng(seed).permutation(np.unique(groups))
    parts = np.array_split(different, min(most, len(different)))
    held = [np.isin(groups, part) for part in parts]
    return [(np.flatnonzero(~mask), np.flatnonzero(mask)) for mask in held]


def _random_forest(seed: int, _groups: Indices) -> Regressor:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(TREES, max_features=0.5, random_state=seed)  # type: ignore[no-any-return]


def _gaussian_process(seed: int, _groups: Indices) -> Regressor:
    """RBF on top of a linear trend: without the trend it falls back to the mean where there are no neighbours."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel

    kernel = (
        ConstantKernel(1.0, (1e-4, 1e3)) * DotProduct(1.0, (1e-3, 1e3))
        + ConstantKernel(1.0, (1e-4, 1e3)) * RBF(3.0, (1e-1, 1e3))
        + WhiteKernel(1e-2, (1e-5, 1.0))
    )
    return _Scaled(GaussianProcessRegressor(kernel, normalize_y=True, random_state=seed))


def _xgboost(seed: int, _groups: Indices) -> Regressor:
    from xgboost import XGBRegressor

    return XGBRegressor(  # type: ignore[no-any-return]
        n_estimators=500, max_depth=3, learning_rate=0.05, subsample=0.8, reg_lambda=0.1, colsample_bynode=0.3,
        n_jobs=1, random_state=seed, verbosity=0,
    )  # fmt: skip


def _gradient_boosting(seed: int, _groups: Indices) -> Regressor:
    from sklearn.ensemble import GradientBoostingRegressor

    return GradientBoostingRegressor(  # type: ignore[no-any-return]
        n_estimators=200, max_depth=4, learning_rate=0.1, subsample=0.7, max_features=0.4, random_state=seed
    )


def _cubist(seed: int, _groups: Indices) -> Regressor:
    from cubist import Cubist

    return _Named(lambda: Cubist(n_committees=10, neighbors=1, random_state=seed))


def _ridge(_seed: int, groups: Indices) -> Regressor:
    from sklearn.linear_model import Ridge

    return _Scaled(_Tuned([partial(Ridge, alpha=alpha) for alpha in np.logspace(-3, 3, 13).tolist()], groups))


def _neighbours(_seed: int, groups: Indices) -> Regressor:
    from sklearn.neighbors import KNeighborsRegressor

    fewest = min(len(train) for train, _ in folds(groups, 0))
    counts = [k for k in (1, 2, 3, 5, 8) if k <= fewest]
    return _Scaled(_Tuned([partial(KNeighborsRegressor, n_neighbors=k, weights="distance") for k in counts], groups))


def _linear_svm(seed: int, groups: Indices) -> Regressor:
    from sklearn.svm import LinearSVR

    svm = partial(LinearSVR, epsilon=0.02, intercept_scaling=10.0, max_iter=2000, tol=1e-2, random_state=seed)
    return _Scaled(_Tuned([partial(svm, C=c) for c in (0.03, 0.3, 3.0)], groups))


def _inference_tree(_seed: int, _groups: Indices) -> Regressor:
    return ConditionalInferenceTree()


def _mars(_seed: int, _groups: Indices) -> Regressor:
    """Additive, with knots an eighth of the samples apart: one at every sample takes a minute, and is no better."""
    from pymars import Earth

    make = _Bounded(lambda n: Earth(max_degree=1, max_terms=15, minspan=max(3, n // 8), endspan=max(3, n // 12)))
    return _Scaled(make)


TEN: Mapping[str, Maker] = {
    "random_forest": _random_forest,
    "gaussian_process": _gaussian_process,
    "xgboost": _xgboost,
    "gradient_boosting": _gradient_boosting,
    "cubist": _cubist,
    "ridge": _ridge,
    "nearest_neighbours": _neighbours,
    "linear_svm": _linear_svm,
    "inference_tree": _inference_tree,
    "mars": _mars,
}


class Learned:
    """A fitted method for a positive quantity: it learns the log, so that what it predicts is positive."""

    def __init__(self, regressor: Regressor, low: float, high: float) -> None:
        self._regressor, self._low, self._high = regressor, low, high

    def logs(self, x: Array) -> Array:
        """Predicted logs; never further outside the logs learned from than these span."""
        with _quiet():
            told = np.asarray(self._regressor.predict(x), dtype=np.float64)
        reach = self._high - self._low
        return np.clip(np.nan_to_num(told, nan=self._low), self._low - reach, self._high + reach)

    def predict(self, x: Array) -> Array:
        """Predicted quantities, above 0."""
        found: Array = np.exp(self.logs(x))
        return found


def learn(name: str, x: Array, y: Array, groups: Indices, *, seed: int) -> Learned:
    """Fit one of the ten to positive targets `y`."""
    logs = np.log(y)
    with _quiet():
        regressor = TEN[name](seed, groups)
        regressor.fit(x, logs)
    return Learned(regressor, float(logs.min()), float(logs.max()))


class _Named:
    """Cubist wants a table with names."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._model = make()

    def fit(self, x: Array, y: Array) -> object:
        return self._model.fit(self._table(x), y)

    def predict(self, x: Array) -> Array:
        return np.asarray(self._model.predict(self._table(x)))

    @staticmethod
    def _table(x: Array) -> object:
        import pandas  # type: ignore[import-untyped]  # comes with cubist

        return pandas.DataFrame(x, columns=[f"x{k}" for k in range(x.shape[1])])


class _Bounded:
    """Not beyond the range of each feature that was learned from: the hinges of MARS go on for ever."""

    def __init__(self, make: Callable[[int], Any]) -> None:
        self._make = make

    def fit(self, x: Array, y: Array) -> object:
        self._low, self._high = x.min(axis=0), x.max(axis=0)
        self._model = self._make(len(y))
        return self._model.fit(x, y)

    def predict(self, x: Array) -> Array:
        return np.asarray(self._model.predict(np.clip(x, self._low, self._high)))


class _Scaled:
    """A method in standard units of each feature."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def fit(self, x: Array, y: Array) -> object:
        self._middle, self._spread = x.mean(axis=0), np.where(np.ptp(x, axis=0) > 0, x.std(axis=0), 1.0)
        return self._model.fit((x - self._middle) / self._spread, y)

    def predict(self, x: Array) -> Array:
        return np.asarray(self._model.predict((x - self._middle) / self._spread)).ravel()


class _Tuned:
    """The candidate with the smallest mean absolute error out of fold, fitted to all; folds never split a group."""

    def __init__(self, candidates: Sequence[Callable[[], Any]], groups: Indices) -> None:
        self._candidates, self._groups = candidates, groups

    def fit(self, x: Array, y: Array) -> object:
        divided = folds(self._groups, 0)
        errors = [sum(_error(make(), x, y, train, held) for train, held in divided) for make in self._candidates]
        self._model = self._candidates[int(np.argmin(errors))]()
        return self._model.fit(x, y)

    def predict(self, x: Array) -> Array:
        return np.asarray(self._model.predict(x))


def _error(model: Any, x: Array, y: Array, train: Indices, held: Indices) -> float:
    model.fit(x[train], y[train])
    return float(np.sum(np.abs(model.predict(x[held]) - y[held])))


@contextmanager
def _quiet() -> Iterator[None]:
    """Libraries warn of iterations and bounds; what a method is worth is told by its error rates."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
