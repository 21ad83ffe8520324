"""What is asked for: quantiles, how small their standard errors shall be, and in units of what."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import isfinite
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from analysis.errors import AnalysisError
from analysis.mixture import Fit, check_quantile
from analysis.mixture.families import FAMILIES
from analysis.sample_size.precision import Precision

Scale = Literal["range", "quantile", "sd"]
Estimator = Literal["fit", "sample"]
SCALES: tuple[Scale, ...] = get_args(Scale)
ESTIMATORS: tuple[Estimator, ...] = get_args(Estimator)
LEAST = 30  # runs: with fewer no model can be chosen
RANGE = (0.1, 0.9)


@dataclass(frozen=True, kw_only=True)
class Target:
    """SE(x_q) <= share x scale for every quantile q. Raises `AnalysisError` for what makes no sense."""

    quantiles: tuple[float, ...] = (0.1, 0.9)
    share: float = 0.05
    # range: x_0.9 - x_0.1 of the fit; quantile: |x_q|, less the mean where `centred`; sd: of the sample (or model).
    scale: Scale = "range"
    centred: bool = False
    # Whose standard error: the fit's quantile, the sample's order statistic, or None: enough for either (`need`).
    estimator: Estimator | None = None
    max_n: int = 900

    def __post_init__(self) -> None:
        if not self.quantiles:
            raise AnalysisError("a target needs at least one quantile")
        for q in self.quantiles:
            check_quantile(q)
        if len(set(self.quantiles)) < len(self.quantiles):
            raise AnalysisError("a quantile is named twice")
        if not (isfinite(self.share) and self.share > 0):
            raise AnalysisError(f"a target is a share above 0, not {self.share:g}")
        if self.max_n < 1:
            raise AnalysisError(f"the largest n is at least 1, not {self.max_n}")


@dataclass(frozen=True, kw_only=True)
class Centre:
    """Mean and standard deviation (dividing by n) of what the centred Gamma and the scale `sd` refer to."""

    mean: float
    sd: float


def centre_of_sample(x: ArrayLike) -> Centre:
    """Of the runs x, shape (n,)."""
    values = np.asarray(x, dtype=np.float64)
    return Centre(mean=float(np.mean(values)), sd=float(np.std(values)))


def centre_of_fit(fit: Fit) -> Centre:
    """Of a mixture; inf where a heavy tail leaves none."""
    family, weight = FAMILIES[fit.family], np.array(fit.weights)
    location, scale = np.array(fit.locations), np.array(fit.scales)
    mean = float(weight @ family.mean(location, scale))
    square = float(weight @ family.mean_square(location, scale))
    return Centre(mean=mean, sd=float(np.sqrt(max(square - mean**2, 0.0))) if isfinite(square) else float("inf"))


def allowed_errors(target: Target, fit: Fit, centre: Centre, precisions: Sequence[Precision]) -> list[float]:
    """The largest standard error of each quantile that meets the target, in the units of x."""
    if target.scale == "range":
        low, high = (fit.quantile(q) for q in RANGE)
        return [target.share * (high - low)] * len(precisions)
    if target.scale == "sd":
        if not isfinite(centre.sd):
            raise AnalysisError("this model has no standard deviation; another --scale is needed")
        return [target.share * centre.sd] * len(precisions)
    zero = centre.mean if target.centred else 0.0
    return [target.share * abs(one.value - zero) for one in precisions]


def sizes(max_n: int) -> list[int]:
    """1, 2, 5, 10, 20, 50, ... below max_n, and max_n."""
    steps = (factor * 10**power for power in range(len(str(max_n))) for factor in (1, 2, 5))
    return [*takewhile(lambda n: n < max_n, steps), max_n]
