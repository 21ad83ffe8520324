"""The six regressors, each behind a standard scaler. The convolutional network needs the optional extra `torch`."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

NAMES = ("linear", "polynomial", "kNN", "RF", "MLP", "CNN")


def available() -> tuple[str, ...]:
    """The regressors that can be used here."""
    return NAMES if find_spec("torch") is not None else NAMES[:-1]


def make(name: str, *, seed: int, processes: int) -> Any:
    """A regressor, not fitted: features and target in standard units, predictions in the target's own."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    scaled = make_pipeline(StandardScaler(), _MAKERS[name](seed, processes))
    return TransformedTargetRegressor(scaled, transformer=StandardScaler())


def _linear(_seed: int, _processes: int) -> Any:
    from sklearn.linear_model import LinearRegression

    return LinearRegression()


def _polynomial(_seed: int, _processes: int) -> Any:
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures

    return make_pipeline(PolynomialFeatures(2, include_bias=False), LinearRegression())


def _neighbours(_seed: int, processes: int) -> Any:
    from sklearn.neighbors import KNeighborsRegressor

    return KNeighborsRegressor(n_jobs=processes)


def _forest(seed: int, processes: int) -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(random_state=seed, n_jobs=processes)


def _perceptron(seed: int, _processes: int) -> Any:
    from sklearn.neural_network import MLPRegressor

    return MLPRegressor(random_state=seed, early_stopping=True, max_iter=2000)  # it stops early: no limit of its own


def _network(seed: int, _processes: int) -> Any:
    from analysis.log_prediction.published.network import ConvolutionalNetwork

    return ConvolutionalNetwork(seed=seed)


_MAKERS: dict[str, Callable[[int, int], Any]] = {
    "linear": _linear,
    "polynomial": _polynomial,
    "kNN": _neighbours,
    "RF": _forest,
    "MLP": _perceptron,
    "CNN": _network,
}
