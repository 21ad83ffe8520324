"""The standard error of a quantile after n runs, for its two estimators.

Both fall with 1 / sqrt(n), so that one number says all: the error of a single run. For the fit's quantile it is the
delta method's (Xu et al. 2020, appendix); for the sample's order statistic it is sqrt(q (1 - q)) / f(x_q), with the
fit's density f. Under the model the first is never larger; the second depends on the model at one place only.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from analysis.errors import NoStandardErrorError
from analysis.mixture import Fit


@dataclass(frozen=True, kw_only=True)
class Precision:
    """A quantile and how well it is known."""

    q: float
    value: float  # x_q, in the units of x
    unit_error: float | None  # sqrt(n) times its standard error, in the units of x; None where it is not defined
    refused: str | None = None  # why it is not

    def error(self, n: int) -> float | None:
        """Standard error after n runs, in the units of x."""
        return None if self.unit_error is None else self.unit_error / n**0.5

    def gamma(self, n: int, centre: float = 0.0) -> float | None:
        """Gamma_q(n) = SE(x_q) / (x_q - centre); `centre` 0, or the mean for the paper's centred form.

        Centred it is negative below the mean, and explodes near it. None where there is no error or x_q = centre.
        """
        error = self.error(n)
        return None if error is None or self.value == centre else error / (self.value - centre)


def of_fit(fit: Fit, q: float) -> Precision:
    """Of the fit's quantile, given that the model is the right one."""
    try:
        return Precision(q=q, value=fit.quantile(q), unit_error=fit.quantile_se(q) * fit.n**0.5)
    except NoStandardErrorError as error:
        return Precision(q=q, value=fit.quantile(q), unit_error=None, refused=str(error))


def of_sample(fit: Fit, q: float, x: ArrayLike | None = None) -> Precision:
    """Of the sample's quantile; its value is that of the runs x, shape (n,), or of the fit where there are none."""
    place = fit.quantile(q)
    density = float(fit.pdf(place))
    value = place if x is None else float(np.quantile(np.asarray(x, dtype=np.float64), q))
    if not density > 0:
        return Precision(q=q, value=value, unit_error=None, refused="no standard error: the density is 0 there")
    return Precision(q=q, value=value, unit_error=float(np.sqrt(q * (1 - q))) / density)
