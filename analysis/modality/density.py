"""Density modes: the peaks of a fitted density that count. Components are not modes: two may share one peak."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analysis.arrays import Array, Indices

SMALLEST = 1e-300


@dataclass(frozen=True, kw_only=True)
class DensityMode:
    """A peak of a density: where it is (units of x), how high (1 / units of x), and the share of runs it holds.

    The share is the probability between the valleys on its two sides.
    """

    position: float
    height: float
    share: float


def density_modes(
    grid: Array, log_pdf: Array, cdf: Callable[[Array], Array], *, min_prominence: float, min_share: float
) -> tuple[DensityMode, ...]:
    """The modes of a density whose logarithm is given on a fine sorted grid, (g,), from left to right.

    A peak counts when it rises above its higher valley by `min_prominence` of its own height and holds at least
    `min_share`; the one that fails first, least prominent first, is merged over its higher valley.
    """
    highest = float(np.max(log_pdf))
    pdf = np.maximum(np.exp(log_pdf - highest), SMALLEST)
    peaks, valleys = _extremes(pdf)
    bounds = np.concatenate([[0.0], cdf(grid[valleys[1:-1]]), [1.0]])
    depth = np.concatenate([[0.0], pdf[valleys[1:-1]], [0.0]])
    while len(peaks) > 1:
        rise = 1 - np.maximum(depth[:-1], depth[1:]) / pdf[peaks]
        share = np.diff(bounds)
        failing = (rise < min_prominence) | (share < min_share)
        if not np.any(failing):
            break
        worst = int(np.argmin(np.where(failing, rise, np.inf)))
        merged_over = worst if depth[worst] >= depth[worst + 1] else worst + 1
        peaks = np.delete(peaks, worst)
        bounds, depth = np.delete(bounds, merged_over), np.delete(depth, merged_over)
    return tuple(
        DensityMode(
            position=_vertex(grid, pdf, int(peak)), height=float(np.exp(highest) * pdf[peak]), share=float(share)
        )
        for peak, share in zip(peaks, np.diff(bounds), strict=True)
    )


def _extremes(pdf: Array) -> tuple[Indices, Indices]:
    """Indices of the peaks, and of the valleys between and (first and last index) beside them."""
    rising = np.concatenate([[True], pdf[1:] > pdf[:-1], [False]])
    peaks = np.flatnonzero(rising[:-1] & ~rising[1:])
    inner = [int(a + np.argmin(pdf[a:b])) for a, b in pairwise(peaks)]
    return peaks, np.array([0, *inner, len(pdf) - 1])


def _vertex(grid: Array, pdf: Array, peak: int) -> float:
    """The top of the parabola through a peak and its two neighbours on the grid."""
    if peak in {0, len(grid) - 1}:
        return float(grid[peak])
    width = grid[peak + 1] - grid[peak - 1]
    before, after = (grid[peak] - grid[peak - 1]) / width, (grid[peak + 1] - grid[peak]) / width
    fall_before, fall_after = 1 - pdf[peak - 1] / pdf[peak], 1 - pdf[peak + 1] / pdf[peak]
    curvature = fall_before * after + fall_after * before
    if curvature <= 0:
        return float(grid[peak])
    return float(grid[peak] + 0.5 * width * (fall_before * after**2 - fall_after * before**2) / curvature)
