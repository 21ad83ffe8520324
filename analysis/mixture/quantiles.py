"""Quantiles of a mixture and their standard errors, by the delta method.

Xu et al. (2020), appendix, with its misprints put right (docs/method.md): the information is that of the score of
log f, and d x_q / d weight_j = -(F_j - F_k) / f.
"""

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

from analysis.arrays import Array
from analysis.errors import AnalysisError, NoStandardErrorError
from analysis.mixture.families import FAMILIES

if TYPE_CHECKING:
    from analysis.mixture.fit import Fit

SMALLEST_WEIGHT = 1e-3
LARGEST_CONDITION = 1e12
MOST_STEPS = 2500  # halving from 1e300 to 1e-300 takes 2000
# The information is integrated piecewise between these places around every component.
PIECES_Z = np.concatenate(
    [[-40.0, -25.0, -18.0, -14.0, -11.0], np.arange(-9.0, 9.25, 0.5), [11.0, 14.0, 18.0, 25.0, 40.0]]
)
NODES = 8


def check_quantile(q: float) -> None:
    """Raises `AnalysisError` unless 0 < q < 1."""
    if not 0 < q < 1:
        raise AnalysisError(f"a quantile needs 0 < q < 1, not {q}")


def quantile(fit: "Fit", q: float) -> float:
    """The q-quantile of a mixture, between the smallest and the largest of its components' q-quantiles."""
    check_quantile(q)
    ends = fit.component_quantiles(q)
    low, high = float(np.min(ends)), float(np.max(ends))
    if low == high or fit.cdf(low) >= q:
        return low
    if fit.cdf(high) <= q:
        return high
    return float(brentq(lambda x: float(fit.cdf(x)) - q, low, high, xtol=1e-300, rtol=1e-14, maxiter=MOST_STEPS))


def quantile_se(fit: "Fit", q: float) -> float:
    """Standard error of the q-quantile for a sample of `fit.n` independent runs, given the selected model."""
    if fit.floor_active:
        raise NoStandardErrorError("no standard error: a component is as narrow as the floor allows")
    if min(fit.weights) < SMALLEST_WEIGHT:
        raise NoStandardErrorError(f"no standard error: a component's weight is {min(fit.weights):.2g}, near 0")
    gradient = quantile_gradient(fit, quantile(fit, q))
    information = score_information(fit)
    size = np.sqrt(np.diag(information))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scaled = information / np.outer(size, size)
    if not np.all(np.isfinite(scaled)) or np.linalg.cond(scaled) > LARGEST_CONDITION:
        raise NoStandardErrorError("no standard error: the information matrix is singular; fewer components may do")
    direction = gradient / size
    reach = float(np.max(np.abs(direction)))  # squares of 1e-300 are 0
    direction /= reach
    return reach * float(np.sqrt(direction @ np.linalg.solve(scaled, direction) / fit.n))


def score_information(fit: "Fit") -> Array:
    """Fisher information of one run, E[s s^T], in (k - 1 weights, k locations, k scales): (3k - 1, 3k - 1)."""
    x, width = _quadrature(fit)
    score = _score(fit, x)
    information: Array = np.einsum("ai,bi->ab", score * (width * fit.pdf(x)), score)
    return information


def quantile_gradient(fit: "Fit", x: float) -> Array:
    """Derivative of the quantile at x in the parameters of `score_information`: (3k - 1,)."""
    family, weight = FAMILIES[fit.family], np.array(fit.weights)
    place = np.array(x)
    below = fit.component_cdf(place)
    by_location, by_scale = family.cdf_gradient(place, np.array(fit.locations), np.array(fit.scales))
    change = np.concatenate([below[:-1] - below[-1], weight * by_location, weight * by_scale])
    return -change / float(fit.pdf(place))


def _score(fit: "Fit", x: Array) -> Array:
    """Derivatives of log f at x, (3k - 1, m)."""
    parts = fit.component_pdf(x)
    share = parts / np.sum(parts, axis=0)
    location, scale = np.array(fit.locations)[:, None], np.array(fit.scales)[:, None]
    by_location, by_scale = FAMILIES[fit.family].score(x, location, scale)
    by_weight = share / np.array(fit.weights)[:, None]
    return np.concatenate([by_weight[:-1] - by_weight[-1], share * by_location, share * by_scale])


def _quadrature(fit: "Fit") -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights between the places around every component where the density is not zero."""
    location, scale = np.array(fit.locations)[:, None], np.array(fit.scales)[:, None]
    with np.errstate(over="ignore", under="ignore"):
        ends = np.unique(FAMILIES[fit.family].places(PIECES_Z, location, scale))
    ends = ends[np.isfinite(ends)]
    place, weight = np.polynomial.legendre.leggauss(NODES)
    half = 0.5 * np.diff(ends)[:, None]
    x = (0.5 * (ends[1:] + ends[:-1])[:, None] + half * place).ravel()
    width = (half * weight).ravel()
    seen = fit.pdf(x) > 0
    return x[seen], width[seen]
