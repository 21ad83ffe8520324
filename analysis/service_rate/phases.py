"""When did the rate change? The likelihood ratio of a split, over a moving window of batches.

Values are averaged sixteen at a time, without the lowest four and the highest two (partial firings and outliers).
Where the averages left and right of some split differ by far more than neighbours do, a new phase began there.
"""

from collections import deque
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array, Indices

BATCH = 16
LOWEST_LEFT_OUT, HIGHEST_LEFT_OUT = 4, 2
WINDOW_BATCHES = 256
FEWEST_A_SIDE = 4
SMALLEST_CHANGE = 0.12
SCORE, SCORE_OF_FEW = 5.5, 24.0
"""A split counts at 5.5 + 24 / batches standard errors: few batches know their own spread badly."""


@dataclass(frozen=True, kw_only=True)
class Split:
    """The last `after_values` values belong to a new phase; levels are trimmed averages before and after."""

    after_values: int
    level_before: float
    level_after: float


class PhaseDetector:
    """Looks for a split after every sixteenth value. O(window) memory."""

    def __init__(self) -> None:
        self._batch: list[float] = []
        self._levels: deque[float] = deque(maxlen=WINDOW_BATCHES)

    def add(self, value: float) -> Split | None:
        """Take one value; a split where one is found, after which only the new phase is remembered."""
        self._batch.append(value)
        if len(self._batch) < BATCH:
            return None
        kept = sorted(self._batch)[LOWEST_LEFT_OUT : BATCH - HIGHEST_LEFT_OUT]
        self._batch.clear()
        self._levels.append(sum(kept) / len(kept))
        split = find_split(np.array(self._levels))
        if split is None:
            return None
        left = [self._levels.popleft() for _ in range(split)]
        return Split(
            after_values=BATCH * len(self._levels),
            level_before=float(np.mean(left)),
            level_after=float(np.mean(self._levels)),
        )


def find_split(levels: Array) -> int | None:
    """How many of the (n,) levels come before a change, or None."""
    n = len(levels)
    if n < 2 * FEWEST_A_SIDE:
        return None
    left_n = np.arange(FEWEST_A_SIDE, n - FEWEST_A_SIDE + 1)
    # Averages of skewed values are skewed; their cube roots are nearly normal (Wilson and Hilferty 1931).
    left, right = _sides(np.cbrt(levels), left_n)
    # Differences of neighbours, for they hold the change only once.
    spread = float(np.sqrt(np.mean(np.diff(np.cbrt(levels)) ** 2) / 2))
    score = np.abs(right - left) / np.sqrt(1 / left_n + 1 / (n - left_n))
    best = int(np.argmax(score))
    if best == len(left_n) - 1:  # at the very end: wait for one more batch to see where the change began
        return None
    low, high = sorted((float(np.mean(levels[: left_n[best]])), float(np.mean(levels[left_n[best] :]))))
    if high - low < SMALLEST_CHANGE * low or high == 0 or score[best] < (SCORE + SCORE_OF_FEW / n) * spread:
        return None
    return int(left_n[best])


def _sides(values: Array, left_n: Indices) -> tuple[Array, Array]:
    """Means of the first `left_n` values and of the others."""
    sums = np.cumsum(values)
    return sums[left_n - 1] / left_n, (sums[-1] - sums[left_n - 1]) / (len(values) - left_n)
