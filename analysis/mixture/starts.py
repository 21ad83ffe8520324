"""Initial values: where the search begins. All on a family's kernel axis, in x / unit.

A start is theta, shape (3, k): weight, location, scale.
"""

from math import pi

import numpy as np

from analysis.arrays import Array, Indices
from analysis.mixture.families import Axis, Family, Kernel

MAX_BINS = 256
EULER_GAMMA = float(np.euler_gamma)
LOGISTIC_SD = pi / 3**0.5
EXTREME_SD = pi / 6**0.5
# Where and how wide a component is tried when one is added to a fit: places per sample, widths in units of its sd.
PLACES = 24
WIDTHS = (0.04, 0.15, 0.5)


def from_moments(kernel: Kernel, mean: Array, sd: Array) -> tuple[Array, Array]:
    """Location and scale of kernel components with these means and standard deviations on the axis."""
    if kernel == Kernel.LOGISTIC:
        return mean, sd / LOGISTIC_SD
    if kernel == Kernel.SMALLEST_EXTREME:
        return mean + EULER_GAMMA * sd / EXTREME_SD, sd / EXTREME_SD
    if kernel == Kernel.GAMMA:
        return mean + 0.5 * sd**2, sd
    return mean, sd


def to_moments(kernel: Kernel, location: Array, scale: Array) -> tuple[Array, Array]:
    """Inverse of `from_moments`."""
    if kernel == Kernel.LOGISTIC:
        return location, scale * LOGISTIC_SD
    if kernel == Kernel.SMALLEST_EXTREME:
        return location - EULER_GAMMA * scale, scale * EXTREME_SD
    if kernel == Kernel.GAMMA:
        return location - 0.5 * scale**2, scale
    return location, scale


def kmeans_cuts(y: Array, counts: Array, components: int) -> list[Indices]:
    """Exact 1-D k-means by dynamic programming: for k = 1..components the index that starts each cluster, (k,).

    `y` sorted, (d,), with counts (d,). Long samples are grouped into `MAX_BINS` runs of neighbours first.
    """
    edges: Indices = np.unique(np.linspace(0, len(y), min(len(y), MAX_BINS) + 1).astype(np.int64))
    sums = [np.concatenate([[0.0], np.cumsum(counts * power)])[edges] for power in (1.0, y, y * y)]
    spread = _within_cost(*sums)
    bins = len(edges) - 1
    cost = spread[0]
    cuts: list[Indices] = [np.zeros(1, dtype=np.int64)]
    back: list[Indices] = []
    for k in range(2, min(components, bins) + 1):
        total = np.concatenate([[np.inf], cost[:-1]])[:, None] + spread
        back.append(np.argmin(total, axis=0))
        cost = np.min(total, axis=0)
        cuts.append(edges[_trace(back, k, bins)])
    return cuts


def _within_cost(weight: Array, first: Array, second: Array) -> Array:
    """Sum of squares about the mean of bins i..j, (bins, bins); inf below the diagonal."""
    held = weight[None, 1:] - weight[:-1, None]
    total = first[None, 1:] - first[:-1, None]
    squares = second[None, 1:] - second[:-1, None]
    upper = np.triu(np.ones_like(held, dtype=bool))
    spread = squares - total**2 / np.where(upper, held, 1.0)
    return np.where(upper, np.maximum(spread, 0.0), np.inf)


def _trace(back: list[Indices], k: int, bins: int) -> Indices:
    starts = np.zeros(k, dtype=np.int64)
    end = bins - 1
    for cluster in range(k - 1, 0, -1):
        starts[cluster] = back[cluster - 1][end]
        end = starts[cluster] - 1
    return starts


def from_cuts(kernel: Kernel, y: Array, counts: Array, cuts: Indices, floor: float) -> Array:
    """One component per cluster of the sorted values, by its moments."""
    weight = np.add.reduceat(counts, cuts)
    mean = np.add.reduceat(counts * y, cuts) / weight
    deviation = y - np.repeat(mean, np.diff(cuts, append=len(y)))
    sd = np.sqrt(np.add.reduceat(counts * deviation**2, cuts) / weight)
    location, scale = from_moments(kernel, mean, np.maximum(sd, floor))
    return np.stack([weight / np.sum(weight), location, np.maximum(scale, floor)])


def quantile_cuts(counts: Array, k: int) -> Indices:
    """Cuts into k clusters of about equal counts; fewer where one value holds more."""
    below = np.cumsum(counts) - counts
    wanted = np.sum(counts) * np.arange(k) / k
    return np.unique(np.searchsorted(below, wanted)).astype(np.int64)


def splits(theta: Array, floor: float) -> Array:
    """Every component of a (3, k) fit split in two, one at a time: (k, 3, k + 1)."""
    k = theta.shape[1]
    found = np.repeat(np.concatenate([theta, theta[:, -1:]], axis=1)[None], k, axis=0)
    rows = np.arange(k)
    weight, location, scale = theta
    found[:, :, k] = theta.T
    found[rows, 0, rows] = found[:, 0, k] = 0.5 * weight
    found[rows, 1, rows] = location - 0.8 * scale
    found[:, 1, k] = location + 0.8 * scale
    found[rows, 2, rows] = found[:, 2, k] = np.maximum(0.6 * scale, floor)
    return found


def removals(theta: Array) -> Array:
    """Every component of a (3, k) fit left out, one at a time: (k, 3, k - 1)."""
    k = theta.shape[1]
    kept = np.array([[j for j in range(k) if j != left_out] for left_out in range(k)])
    found = theta[:, kept].transpose(1, 0, 2).copy()
    found[:, 0] /= np.sum(found[:, 0], axis=1, keepdims=True)
    return found


def insertions(theta: Array, trial: Array, gains: Array, count: int) -> Array:
    """The fit with one more component, where the density is most under-fitted: (<= count, 3, k + 1).

    `trial` (3, t) are candidate components with their best weights, `gains` (t,) their predicted gains.
    """
    order = np.argsort(-gains, kind="stable")
    chosen: list[int] = []
    for candidate in order:
        apart = [abs(trial[1, candidate] - trial[1, other]) > trial[2, candidate] for other in chosen]
        if all(apart):
            chosen.append(int(candidate))
        if len(chosen) == count:
            break
    found = np.empty((len(chosen), 3, theta.shape[1] + 1))
    for row, candidate in enumerate(chosen):
        found[row, :, :-1] = theta
        found[row, 0, :-1] *= 1 - trial[0, candidate]
        found[row, :, -1] = trial[:, candidate]
    return found


def converted(source: Family, target: Family, theta: Array) -> Array:
    """A fit of one family as a start for another: components with about the same means and spreads."""
    mean, sd = to_moments(source.kernel, theta[..., 1, :], theta[..., 2, :])
    if source.axis is Axis.MIRRORED_LOG:
        mean = -mean
    if source.axis is Axis.IDENTITY and target.axis is not Axis.IDENTITY:
        positive = np.maximum(mean, 1e-3 * sd)
        log_variance = np.log1p((sd / positive) ** 2)
        mean, sd = np.log(positive) - 0.5 * log_variance, np.sqrt(log_variance)
    elif target.axis is Axis.IDENTITY and source.axis is not Axis.IDENTITY:
        variance = np.minimum(sd, 1.0) ** 2
        mean = np.exp(mean + 0.5 * variance)
        sd = mean * np.sqrt(np.expm1(variance))
    if target.axis is Axis.MIRRORED_LOG:
        mean = -mean
    location, scale = from_moments(target.kernel, mean, sd)
    return np.stack([theta[..., 0, :], location, scale], axis=-2)
