"""Initial values: where the search begins.

A *sketch*, shape (..., 3, k), is a mixture by the weight, mean and standard deviation of its components on the base
axis of its family: x for the normal, log x for the others (in x / unit). Sketches are what families have in common,
so that each can start from what another found.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil, pi

import numpy as np

from analysis.arrays import Array, Indices
from analysis.mixture.families import HALF_LOG_TWO_PI, Axis, Family, Kernel

MAX_BINS = 256
EULER_GAMMA = float(np.euler_gamma)
LOGISTIC_SD = pi / 3**0.5
EXTREME_SD = pi / 6**0.5
LOG_TWO_PI = 2 * HALF_LOG_TWO_PI
SMALLEST_DENSITY, LARGEST_SHARE = 1e-300, 1 - 1e-9
# Halves of a split component: apart by this many standard deviations, narrower by this factor.
SPLIT_SHIFT, SPLIT_WIDTH = 0.8, 0.6
# Where a component is added: windows of neighbours that grow by this factor, in steps of a share of their length.
SMALLEST_WINDOW, WINDOW_GROWTH, WINDOW_STEP = 3, 2.0, 6


@dataclass(frozen=True, kw_only=True, eq=False)
class Ground:
    """A sample on a base axis, and what starts are made from there."""

    y: Array  # sorted, (d,)
    counts: Array
    clusters: Sequence[Array]  # one sketch per k = 1, 2, ...: exact k-means
    first: Indices  # windows of neighbours: a row per length, (l, w)
    last: Indices
    window: Array  # weight, mean, sd of each window, (3, l, w)
    gain: Array  # log-likelihood of a component of its own for each window, less what the others lose


def survey(y: Array, counts: Array, components: int, floor: float) -> Ground:
    """Clusters and windows of a sorted sample; `floor` is the smallest sd of an inserted component."""
    first, last = _windows(len(y))
    held, mean, variance = _moments(y, counts, first, last)
    sd = np.maximum(np.sqrt(variance), floor)
    share = np.minimum(held / np.sum(counts), LARGEST_SHARE)
    own = np.log(share / sd) - 0.5 * (LOG_TWO_PI + variance / sd**2)
    lost = np.sum(counts) * (1 - share) * np.log1p(-share)
    return Ground(
        y=y,
        counts=counts,
        clusters=[_of_clusters(y, counts, cuts) for cuts in kmeans_cuts(y, counts, components)],
        first=first,
        last=last,
        window=np.stack([share, mean, sd]),
        gain=held * own + lost,
    )


def sketch_of(family: Family, theta: Array) -> Array:
    """The sketch of mixtures on the kernel's axis, (..., 3, k)."""
    weight, location, scale = theta[..., 0, :], theta[..., 1, :], theta[..., 2, :]
    if family.kernel == Kernel.LOGISTIC:
        scale = scale * LOGISTIC_SD
    elif family.kernel == Kernel.SMALLEST_EXTREME:
        location, scale = location - EULER_GAMMA * scale, scale * EXTREME_SD
    elif family.kernel == Kernel.GAMMA:
        location = location - 0.5 * scale**2
    sign = -1.0 if family.axis is Axis.MIRRORED_LOG else 1.0
    return _stacked(weight, sign * location, scale)


def theta_of(family: Family, sketch: Array, floor: float) -> Array:
    """Inverse of `sketch_of`, no scale below `floor`."""
    sign = -1.0 if family.axis is Axis.MIRRORED_LOG else 1.0
    weight, location, scale = sketch[..., 0, :], sign * sketch[..., 1, :], sketch[..., 2, :]
    if family.kernel == Kernel.LOGISTIC:
        scale = scale / LOGISTIC_SD
    elif family.kernel == Kernel.SMALLEST_EXTREME:
        scale = scale / EXTREME_SD
        location = location + EULER_GAMMA * scale
    elif family.kernel == Kernel.GAMMA:
        location = location + 0.5 * scale**2
    return _stacked(weight, location, np.maximum(scale, floor))


def to_log(sketch: Array) -> Array:
    """A sketch of x as a sketch of log x: lognormal components with the same means and standard deviations."""
    sd = sketch[..., 2, :]
    mean = np.maximum(sketch[..., 1, :], 1e-3 * sd)
    variance = np.log1p((sd / mean) ** 2)
    return _stacked(sketch[..., 0, :], np.log(mean) - 0.5 * variance, np.sqrt(variance))


def from_log(sketch: Array) -> Array:
    """Inverse of `to_log`; spreads above 1 on the log axis count as 1."""
    variance = np.minimum(sketch[..., 2, :], 1.0) ** 2
    mean = np.exp(sketch[..., 1, :] + 0.5 * variance)
    return _stacked(sketch[..., 0, :], mean, mean * np.sqrt(np.expm1(variance)))


def splits(sketch: Array) -> Array:
    """Every component of a (3, k) sketch split in two, one at a time: (k, 3, k + 1)."""
    k = sketch.shape[1]
    rows = np.arange(k)
    weight, mean, sd = sketch
    found = np.empty((k, 3, k + 1))
    found[:, :, :k] = sketch
    found[rows, :, rows] = np.array([0.5 * weight, mean - SPLIT_SHIFT * sd, SPLIT_WIDTH * sd]).T
    found[:, :, k] = np.array([0.5 * weight, mean + SPLIT_SHIFT * sd, SPLIT_WIDTH * sd]).T
    return found


def removals(sketch: Array) -> Array:
    """Every component of a (3, k) sketch left out, one at a time: (k, 3, k - 1)."""
    found = sketch[:, _all_but_one(sketch.shape[1])].transpose(1, 0, 2).copy()
    found[:, 0] /= np.sum(found[:, 0], axis=1, keepdims=True)
    return found


def insertions(ground: Ground, sketch: Array) -> Array:
    """A (3, k) sketch with one more component, for the worst described window of each length: (l, 3, k + 1).

    Given to a component g of its own with weight m / n, the m runs of a window gain sum log((m / n) g / f) and the
    others lose -(n - m) log(1 - m / n): a lower bound of what the log-likelihood gains, from cumulative sums alone.
    For the fit f the normals of its sketch are close enough here.
    """
    if ground.gain.size == 0:
        return np.empty((0, 3, sketch.shape[1] + 1))
    weight, mean, sd = sketch[:, :, None]
    density = np.sum(weight / sd * np.exp(-0.5 * ((ground.y - mean) / sd) ** 2), axis=0)
    log_density = np.log(np.maximum(density, SMALLEST_DENSITY)) - HALF_LOG_TWO_PI
    fitted = np.concatenate([[0.0], np.cumsum(ground.counts * log_density)])
    gain = ground.gain - (fitted[ground.last] - fitted[ground.first])
    best = np.argmax(gain, axis=1)
    chosen = ground.window[:, np.arange(len(best)), best].T
    found = np.empty((len(chosen), 3, sketch.shape[1] + 1))
    found[:, :, :-1] = sketch
    found[:, 0, :-1] *= 1 - chosen[:, :1]
    found[:, :, -1] = chosen
    return found


def _stacked(weight: Array, location: Array, scale: Array) -> Array:
    """Three (..., k) arrays as one (..., 3, k)."""
    found = np.empty((*weight.shape[:-1], 3, weight.shape[-1]))
    found[..., 0, :], found[..., 1, :], found[..., 2, :] = weight, location, scale
    return found


def kmeans_cuts(y: Array, counts: Array, components: int) -> list[Indices]:
    """Exact 1-D k-means by dynamic programming: for k = 1..components the index that starts each cluster, (k,).

    `y` sorted, (d,), with counts (d,). Long samples are grouped into `MAX_BINS` runs of neighbours first.
    """
    edges: Indices = np.unique(np.linspace(0, len(y), min(len(y), MAX_BINS) + 1).astype(np.int64))
    bins = len(edges) - 1
    spread = _within_cost(y - y[len(y) // 2], counts, edges)
    cost = spread[0]
    cuts: list[Indices] = [np.zeros(1, dtype=np.int64)]
    back: list[Indices] = []
    for k in range(2, min(components, bins) + 1):
        total = np.concatenate([[np.inf], cost[:-1]])[:, None] + spread
        back.append(np.argmin(total, axis=0))
        cost = np.min(total, axis=0)
        cuts.append(edges[_trace(back, k, bins)])
    return cuts


def _of_clusters(y: Array, counts: Array, cuts: Indices) -> Array:
    """One component per cluster of the sorted values, by its moments: (3, k)."""
    held, mean, variance = _moments(y, counts, cuts, np.append(cuts[1:], len(y)))
    return np.stack([held / np.sum(counts), mean, np.sqrt(variance)])


def _moments(y: Array, counts: Array, first: Indices, last: Indices) -> tuple[Array, Array, Array]:
    """Count, mean and variance of y[first:last], each of the shape of `first`."""
    centre = y[len(y) // 2]
    deviation = y - centre
    sums = np.zeros((3, len(y) + 1))
    np.cumsum(counts * np.stack([np.ones_like(y), deviation, deviation**2]), axis=1, out=sums[:, 1:])
    held, total, squares = sums[:, last] - sums[:, first]
    mean = total / held
    return held, centre + mean, np.maximum(squares / held - mean**2, 0.0)


def _within_cost(y: Array, counts: Array, edges: Indices) -> Array:
    """Sum of squares about the mean of bins i..j, (bins, bins); inf below the diagonal."""
    weight, total, squares = (np.concatenate([[0.0], np.cumsum(counts * y**power)])[edges] for power in (0, 1, 2))
    held = weight[None, 1:] - weight[:-1, None]
    upper = held > 0
    spread = (
        squares[None, 1:] - squares[:-1, None] - (total[None, 1:] - total[:-1, None]) ** 2 / np.where(upper, held, 1)
    )
    return np.where(upper, np.maximum(spread, 0.0), np.inf)


def _trace(back: list[Indices], k: int, bins: int) -> Indices:
    starts = np.zeros(k, dtype=np.int64)
    end = bins - 1
    for cluster in range(k - 1, 0, -1):
        starts[cluster] = back[cluster - 1][end]
        end = starts[cluster] - 1
    return starts


@cache
def _all_but_one(k: int) -> Indices:
    return np.array([[j for j in range(k) if j != left_out] for left_out in range(k)], dtype=np.int64)


@cache
def _windows(d: int) -> tuple[Indices, Indices]:
    """First and last (exclusive) index of runs of neighbours, from a few to half of all: a row per length, (l, w).

    Rows are filled up by repeating their last window.
    """
    lengths = [SMALLEST_WINDOW]
    while (longer := ceil(lengths[-1] * WINDOW_GROWTH)) <= d / 2:
        lengths.append(longer)
    places = [np.arange(0, d - length + 1, max(1, length // WINDOW_STEP)) for length in lengths if length <= d]
    first = np.zeros((len(places), max(map(len, places), default=0)), dtype=np.int64)
    for row, found in enumerate(places):
        first[row] = np.append(found, np.full(first.shape[1] - len(found), found[-1]))
    return first, first + np.array(lengths[: len(places)], dtype=np.int64)[:, None]
