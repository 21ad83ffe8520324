"""Standardising counters by the unlabelled runs of a setting itself: what is usual there, and what varies together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array

LIMIT = 20.0
"""Scaled values are cut there: one wild reading shall not decide."""
SHRINKAGE = 0.05
"""Share of the correlations that is taken to be none; keeps counters that nearly repeat each other from exploding."""
ROWS = 100_000
"""As many rows, evenly spaced, tell a median well enough."""
ROWS_PER_COUNTER = 5
"""With fewer, correlations are noise: counters are scaled, but not decorrelated."""


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """x -> cut((x - centre) / scale) mix."""

    centre: Array
    scale: Array
    mix: Array
    """(d, d): the symmetric root of the inverse correlations, so that each column stays the counter it was."""

    def plain(self, x: Array) -> Array:
        """(n, d) scaled, each counter on its own; what is missing is what is usual."""
        scaled: Array = np.nan_to_num(np.clip((x - self.centre) / self.scale, -LIMIT, LIMIT))
        return scaled

    def apply(self, x: Array) -> Array:
        """(n, d) scaled and decorrelated."""
        decorrelated: Array = self.plain(x) @ self.mix
        return decorrelated


def of_values(x: Array, *, decorrelate: bool = True) -> Scaling:
    """By median and median absolute deviation of (n, d) values, and their correlations; nan is passed over."""
    x = x[:: max(1, len(x) // ROWS)]
    width = x.shape[1]
    told = np.sum(~np.isnan(x), axis=0) > 0
    filled = np.where(told, x, 0.0)
    centre = np.nanmedian(filled, axis=0)
    scale = 1.4826 * np.nanmedian(np.abs(filled - centre), axis=0)
    # More than half of all values alike: the usual deviation, and where there is none at all, any number.
    scale = np.where(scale > 0, scale, np.nanstd(filled, axis=0))
    scale = np.where(scale > 0, scale, 1.0)
    alone = Scaling(centre=centre, scale=scale, mix=np.eye(width))
    if not decorrelate or len(x) < ROWS_PER_COUNTER * width or width < 2:
        return alone
    return Scaling(centre=centre, scale=scale, mix=_mix(alone.plain(x)))


def without_drift(x: Array, window: int) -> Array:
    """(n, d) values, in the order of time, less the mean of the `window` (odd) around each; nan stays nan."""
    centre = np.nan_to_num(np.nanmedian(np.where(np.all(np.isnan(x), axis=0), 0.0, x), axis=0))
    filled = np.where(np.isnan(x), centre, x) - centre
    half = min(window, 2 * len(x) - 1) // 2
    sums = np.concatenate([np.zeros((1, x.shape[1])), np.cumsum(filled, axis=0)])
    place = np.arange(len(x))
    first, behind = np.maximum(place - half, 0), np.minimum(place + half + 1, len(x))
    around = (sums[behind] - sums[first]) / (behind - first)[:, None]
    drifted: Array = np.where(np.isnan(x), np.nan, filled - around)
    return drifted


def _mix(scaled: Array) -> Array:
    varies = np.std(scaled, axis=0) > 0
    correlations = np.eye(len(varies))
    correlations[np.ix_(varies, varies)] = np.atleast_2d(np.corrcoef(scaled[:, varies], rowvar=False))
    shrunk = (1 - SHRINKAGE) * correlations + SHRINKAGE * np.eye(len(varies))
    sizes, directions = np.linalg.eigh(shrunk)
    mix: Array = directions / np.sqrt(sizes) @ directions.T
    return mix
