"""The rate of unblocked service from counts per period: the full periods of a mixture, and how well they are known.

Counts of unblocked periods are whole (mean mu, some dispersion), partial (the server was blocked for a while and
nobody said so), or wrong. Means, medians and maxima of such a sample are biased by the other two; here mu is the mean
of the whole ones, found by penalised maximum likelihood with the shares of the others free.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from analysis.arrays import Array
from analysis.errors import BadSampleError
from analysis.service_rate.distributions import full_and_partial, outlier

FEWEST = 16
COVERAGE_Z = 1.959964
DISPERSIONS = (1e-6, 1e3)
"""Variance of a count over its mean: from clockwork to bursts."""
PARTIAL_PRIOR, OUTLIER_PRIOR = (1.1, 6.0), (1.05, 60.0)
"""Beta distributions of the two shares: a sixth and a sixtieth, held loosely."""
BURST_PRIOR = 0.15
"""Mean of log dispersion above 0 (exponential prior): where counts may mean partial firings or bursts, the former."""
BATCH = 8


@dataclass(frozen=True, kw_only=True)
class UnblockedCount:
    """The count of a whole unblocked period: its mean with a 95 % interval, and its dispersion (variance / mean)."""

    mean: float
    low: float
    high: float
    dispersion: float
    partial_share: float
    outlier_share: float
    n: int


def unblocked_count(counts: Array) -> UnblockedCount:
    """Fit the counts of unblocked periods, (n,) numbers of at least 0. Raises `BadSampleError`."""
    if len(counts) < FEWEST:
        raise BadSampleError(f"{len(counts)} unblocked periods are too few: {FEWEST} are needed")
    if not np.all(np.isfinite(counts)) or np.min(counts) < 0:
        raise BadSampleError("counts are numbers of at least 0")
    if np.max(counts) <= 0:
        raise BadSampleError("no item was finished in any unblocked period")
    values, times = np.unique(counts, return_counts=True)
    loss = _Loss(values, times.astype(np.float64))
    best = min((_minimum(loss, start) for start in _starts(counts)), key=loss)
    return _result(best, loss, counts)


@dataclass(frozen=True)
class _Loss:
    """Minus the penalised log-likelihood at (log mean, log dispersion, logit of the two shares)."""

    values: Array
    times: Array

    def __call__(self, at: Array) -> float:
        mean, dispersion, partial, wrong = _natural(at)
        whole_p, partial_p = full_and_partial(mean, dispersion, self.values)
        density = (1 - partial - wrong) * whole_p + partial * partial_p + wrong * outlier(mean, self.values)
        likelihood = float(self.times @ np.log(np.maximum(density, 1e-300)))
        bursts = max(0.0, float(np.log(dispersion))) / BURST_PRIOR
        return -likelihood - _log_beta(partial, PARTIAL_PRIOR) - _log_beta(wrong, OUTLIER_PRIOR) + bursts


def _minimum(loss: _Loss, start: Array) -> Array:
    """Nelder and Mead from a simplex as wide as the sample leaves in doubt, to a thousandth of a log-likelihood."""
    from scipy.optimize import minimize  # 50 MB, which a controller that only sees completion times need not hold

    mean, dispersion, _, _ = _natural(start)
    widths = np.diag([float(np.clip(np.sqrt(dispersion / mean) / 3, 1e-4, 0.2)), 0.7, 0.7, 0.7])
    simplex = np.vstack([start, start + widths])
    found = minimize(
        loss,
        start,
        method="Nelder-Mead",
        options={"initial_simplex": simplex, "xatol": np.inf, "fatol": 1e-3, "maxfev": 400},
    )
    return np.asarray(found.x, dtype=np.float64)


def _natural(at: Array) -> tuple[float, float, float, float]:
    mean = float(np.exp(at[0]))
    lowest = max(DISPERSIONS[0], 1e-4 / mean)  # an sd below a hundredth of an item is none
    dispersion = float(np.clip(np.exp(at[1]), lowest, DISPERSIONS[1] * max(1.0, mean)))
    return mean, dispersion, 0.5 * float(expit(at[2])), 0.2 * float(expit(at[3]))


def _log_beta(share: float, prior: tuple[float, float]) -> float:
    return (prior[0] - 1) * float(np.log(max(share, 1e-12))) + (prior[1] - 1) * float(np.log1p(-share))


def _starts(counts: Array) -> list[Array]:
    """From the upper half of the counts, which partial firings do not reach, and from a Poisson count."""
    middle = max(float(np.median(counts[counts > 0])), 0.5)
    whole = counts[(counts > 0.6 * middle) & (counts < 2 * middle)]
    upper = float(np.quantile(whole, 0.84)) - float(np.median(whole)) if len(whole) else 1.0
    centre = float(np.median(whole)) if middle > 5 and len(whole) else float(np.mean(np.minimum(counts, 3 * middle)))
    narrow = max(upper, 0.3) ** 2 / centre
    shares = [np.log(0.1 / 0.4), np.log(0.01 / 0.19)]
    return [np.array([np.log(centre), np.log(dispersion), *shares]) for dispersion in (narrow, 1.0)]


def _result(at: Array, loss: _Loss, counts: Array) -> UnblockedCount:
    mean, dispersion, partial, wrong = _natural(at)
    spread = float(np.sqrt(dispersion / mean))
    se = max(_standard_error(at, loss), spread / np.sqrt(len(counts))) * _inflation(counts, mean)
    # Counts that never vary are rounded ones: the mean may be anywhere in their cell.
    rounding = 0.5 if dispersion * mean < 0.05 else 0.0
    return UnblockedCount(
        mean=mean,
        low=mean * float(np.exp(-COVERAGE_Z * se)) - rounding,
        high=mean * float(np.exp(COVERAGE_Z * se)) + rounding,
        dispersion=dispersion,
        partial_share=partial,
        outlier_share=wrong,
        n=len(counts),
    )


def _standard_error(at: Array, loss: _Loss) -> float:
    """Of log mean, with the other three unknown: from the curvature of the loss, by central differences."""
    mean, dispersion, _, _ = _natural(at)
    width = float(np.sqrt(max(dispersion * mean, 0.05) / np.sum(loss.times))) / mean
    steps = np.diag([0.7 * width, 0.1, 0.2, 0.3])
    curvature = np.empty((4, 4))
    for i in range(4):
        for j in range(i + 1):
            a, b = steps[i], steps[j]
            second = loss(at + a + b) - loss(at + a - b) - loss(at - a + b) + loss(at - a - b)
            curvature[i, j] = curvature[j, i] = second / (4 * steps[i, i] * steps[j, j])
    # A share at its edge has no curvature: a weak prior of variance 4 keeps the inverse finite.
    curvature[np.diag_indices(4)] += [0.0, 0.25, 0.25, 0.25]
    try:
        variance = float(np.linalg.inv(curvature)[0, 0])
    except np.linalg.LinAlgError:
        return 0.0
    return float(np.sqrt(variance)) if variance > 0 else 0.0


def _inflation(counts: Array, mean: float) -> float:
    """How much wider the interval is because neighbouring periods resemble each other: sqrt of a variance ratio."""
    clipped = np.minimum(counts, 2 * mean)
    batches = len(clipped) // BATCH
    if batches < 12 or np.ptp(clipped) == 0:
        return 1.0
    means = clipped[: batches * BATCH].reshape(batches, BATCH).mean(axis=1)
    return float(np.clip(np.sqrt(BATCH * np.var(means, ddof=1) / np.var(clipped, ddof=1)), 1.0, 3.0))
