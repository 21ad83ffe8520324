"""The rate of a slow server from its inter-completion times: where a period holds no item or one, counts say little.

Each time is that of one service which began with its item already waiting, or a stretch of unblocked time between two
completions. A time beyond twenty medians is an interruption, not a service, and is left out.
"""

from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array
from analysis.errors import BadSampleError

FEWEST = 16
COVERAGE_Z = 1.959964
INTERRUPTED_MEDIANS = 20.0
BATCH = 8


@dataclass(frozen=True, kw_only=True)
class ServiceTime:
    """Mean seconds of one service, with a 95 % interval; squared coefficient of variation; times used and left out."""

    mean_s: float
    low_s: float
    high_s: float
    cv2: float
    n: int
    left_out: int

    @property
    def half_width(self) -> float:
        """Half the interval, relative to the mean."""
        return (self.high_s - self.low_s) / (2 * self.mean_s)


def service_time(times_s: Array) -> ServiceTime:
    """Estimate from (n,) inter-completion times above 0. Raises `BadSampleError`."""
    if len(times_s) < FEWEST:
        raise BadSampleError(f"{len(times_s)} completions are too few: {FEWEST} are needed")
    if not np.all(np.isfinite(times_s)) or np.min(times_s) <= 0:
        raise BadSampleError("inter-completion times are numbers above 0")
    used = times_s[times_s <= INTERRUPTED_MEDIANS * np.median(times_s)]
    mean, sd = float(np.mean(used)), float(np.std(used, ddof=1))
    # On the logarithm, where the mean of few skewed times is nearly normal and the interval stays above 0.
    reach = COVERAGE_Z * sd / mean / np.sqrt(len(used)) * _inflation(used)
    return ServiceTime(
        mean_s=mean,
        low_s=mean * float(np.exp(-reach)),
        high_s=mean * float(np.exp(reach)),
        cv2=(sd / mean) ** 2,
        n=len(used),
        left_out=len(times_s) - len(used),
    )


def _inflation(times_s: Array) -> float:
    """How much wider the interval is because neighbouring services resemble each other: sqrt of a variance ratio."""
    batches = len(times_s) // BATCH
    if batches < 12 or np.ptp(times_s) == 0:
        return 1.0
    means = times_s[: batches * BATCH].reshape(batches, BATCH).mean(axis=1)
    return float(np.clip(np.sqrt(BATCH * np.var(means, ddof=1) / np.var(times_s, ddof=1)), 1.0, 3.0))
