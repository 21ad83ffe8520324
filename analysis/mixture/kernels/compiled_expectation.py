"""The E-step compiled by numba: log-densities of the components, responsibilities, log-likelihood.

`y`, `log_weight`, `first` and `counts` are the fields of `Points`. Rows named z, slope, curvature and log_density are
(m,) work space. The inner loops have no branches, so that they become SIMD.
"""

# ruff: noqa: PLR0917 - numba takes arrays, not the values that hold them

import numpy as np
from numba import njit

from analysis.mixture.families import HALF_LOG_TWO_PI, Kernel
from analysis.mixture.kernels.elementary import fast_exp, fast_expm1, fast_log
from analysis.mixture.kernels.port import FARTHEST

NORMAL, LOGISTIC, GAMMA = int(Kernel.NORMAL), int(Kernel.LOGISTIC), int(Kernel.GAMMA)
LOG_TWO_PI = 2 * HALF_LOG_TWO_PI
# Sums may be taken in any order.
REORDER = {"reassoc", "contract", "nsz", "arcp"}


@njit(error_model="numpy")
def expectation(kernel, y, log_weight, first, counts, theta, work):  # type: ignore[no-untyped-def]
    """Fills z, slope, curvature and r (in this order in `work`); returns the log-likelihood."""
    r, z, slope, curvature, scratch = work[0], work[1], work[2], work[3], work[4]
    for j in range(theta.shape[1]):
        weight, location, scale = theta[0, j], theta[1, j], theta[2, j]
        if kernel == GAMMA:
            shape = scale**-2.0
            constant = np.log(weight) + gamma_terms(shape)[0]
            _gamma_row(y, location, shape, constant, z[j], slope[j], r[j])
            continue
        constant = np.log(weight) - np.log(scale)
        if kernel == NORMAL:
            _normal_row(y, location, 1 / scale, constant - HALF_LOG_TWO_PI, z[j], slope[j], curvature[j], r[j])
        elif kernel == LOGISTIC:
            _logistic_row(y, location, 1 / scale, constant, z[j], slope[j], curvature[j], r[j])
        else:
            _extreme_row(y, location, 1 / scale, constant, z[j], slope[j], curvature[j], r[j])
    if first.shape[0] == y.shape[0]:
        return _normalise_points(r, log_weight, counts, scratch)
    return _normalise_cells(r, log_weight, first, counts, scratch)


@njit(error_model="numpy", fastmath=REORDER)
def _normal_row(y, location, inverse, constant, z, slope, curvature, log_density):  # type: ignore[no-untyped-def]
    for i in range(y.shape[0]):
        at = (y[i] - location) * inverse
        z[i] = at
        slope[i] = -at
        curvature[i] = -1.0
        log_density[i] = constant - 0.5 * at * at


@njit(error_model="numpy", fastmath=REORDER)
def _logistic_row(y, location, inverse, constant, z, slope, curvature, log_density):  # type: ignore[no-untyped-def]
    for i in range(y.shape[0]):
        at = (y[i] - location) * inverse
        decay = fast_exp(-abs(at))
        size = (1.0 - decay) / (1.0 + decay)
        tangent = size if at > 0 else -size
        z[i] = at
        slope[i] = -tangent
        curvature[i] = -0.5 * (1.0 - tangent * tangent)
        log_density[i] = constant - abs(at) - 2.0 * fast_log(1.0 + decay)


@njit(error_model="numpy", fastmath=REORDER)
def _extreme_row(y, location, inverse, constant, z, slope, curvature, log_density):  # type: ignore[no-untyped-def]
    for i in range(y.shape[0]):
        at = min((y[i] - location) * inverse, FARTHEST)
        growth = fast_exp(at)
        z[i] = at
        slope[i] = 1.0 - growth
        curvature[i] = -growth
        log_density[i] = constant + at - growth


@njit(error_model="numpy", fastmath=REORDER)
def _gamma_row(y, location, shape, constant, z, growth_less_one, log_density):  # type: ignore[no-untyped-def]
    for i in range(y.shape[0]):
        at = min(y[i] - location, FARTHEST)
        growth = fast_expm1(at)
        z[i] = at
        growth_less_one[i] = growth
        log_density[i] = constant + shape * (at - growth)


@njit(error_model="numpy", fastmath=REORDER)
def _normalise_points(r, log_weight, counts, scratch):  # type: ignore[no-untyped-def]
    """Log-densities in `r` become responsibilities times counts; one point per cell."""
    k, m = r.shape
    top, total = scratch[0], np.zeros(m)
    top[:] = r[0]
    for j in range(1, k):
        for i in range(m):
            top[i] = max(top[i], r[j, i])
    for j in range(k):
        for i in range(m):
            share = fast_exp(r[j, i] - top[i])
            r[j, i] = share
            total[i] += share
    loglik = 0.0
    for i in range(m):
        loglik += counts[i] * (fast_log(total[i]) + top[i] + log_weight[i])
        total[i] = counts[i] / total[i]
    for j in range(k):
        for i in range(m):
            r[j, i] *= total[i]
    return loglik


@njit(error_model="numpy", fastmath=REORDER)
def _normalise_cells(r, log_weight, first, counts, scratch):  # type: ignore[no-untyped-def]
    """The same where a cell has several points."""
    k, m = r.shape
    top, total = scratch[0], np.zeros(m)
    top[:] = r[0]
    for j in range(1, k):
        for i in range(m):
            top[i] = max(top[i], r[j, i])
    loglik = 0.0
    for c in range(first.shape[0]):
        end = first[c + 1] if c + 1 < first.shape[0] else m
        highest = top[first[c]] + log_weight[first[c]]
        for i in range(first[c], end):
            highest = max(highest, top[i] + log_weight[i])
        loglik += counts[c] * highest
        for i in range(first[c], end):
            top[i] = highest - log_weight[i]
    for j in range(k):
        for i in range(m):
            share = fast_exp(r[j, i] - top[i])
            r[j, i] = share
            total[i] += share
    for c in range(first.shape[0]):
        end = first[c + 1] if c + 1 < first.shape[0] else m
        held = 0.0
        for i in range(first[c], end):
            held += total[i]
        loglik += counts[c] * np.log(held)
        for i in range(first[c], end):
            total[i] = counts[c] / held
    for j in range(k):
        for i in range(m):
            r[j, i] *= total[i]
    return loglik


@njit(error_model="numpy")
def gamma_terms(shape):  # type: ignore[no-untyped-def]
    """c(a) = a log a - a - log Gamma(a) and two derivatives: asymptotic series, after the recurrence for small a."""
    a, log_product, first, second = shape, 0.0, 0.0, 0.0
    while a < 12.0:
        log_product += np.log(a)
        first += 1 / a
        second -= 1 / (a * a)
        a += 1.0
    inverse = 1 / a
    square = inverse * inverse
    # Abramowitz and Stegun 6.1.41, 6.3.18 and 6.4.12.
    tail = square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))
    value = 0.5 * (np.log(a) - LOG_TWO_PI) - inverse * (1 / 12 - tail)
    tail = square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square / 132)))
    psi_rest = inverse * (0.5 + inverse * (1 / 12 - tail))
    tail = square * (1 / 30 - square * (1 / 42 - square * (1 / 30 - square * 5 / 66)))
    psi_one_rest = -square * (0.5 + inverse * (1 / 6 - tail))
    if a == shape:
        return value, psi_rest, psi_one_rest
    # log Gamma(shape) = log Gamma(a) - log_product, and so on; the leading terms at a and at shape differ.
    log_gamma = a * np.log(a) - a - value - log_product
    value = shape * np.log(shape) - shape - log_gamma
    first += np.log(shape) - (np.log(a) - psi_rest)
    second += 1 / shape - (1 / a - psi_one_rest)
    return value, first, second
