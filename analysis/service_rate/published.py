"""The published estimate of a non-blocking service rate, one count at a time.

Beard and Chamberlain (2015), algorithm 1: Gaussian filter, q = mean + 1.64485 sd of the filtered window, streaming
mean of q, until the standard error of that mean is stable. The decisions that the print leaves open are in
docs/service-rate.md. The result is a well-behaved *maximum*: 11 to 25 % above the mean unblocked rate.
"""

import math
from collections import deque
from dataclasses import dataclass

from analysis.errors import BadOptionsError
from analysis.service_rate import filters
from analysis.service_rate.moments import Moments

QUANTILE_Z = 1.64485
STABLE_OVER = 16


@dataclass(frozen=True, kw_only=True)
class Method:
    """What the method leaves open. `tolerance` is relative to the mean of q; `window` counts are smoothed at a time."""

    window: int = 64
    tolerance: float = 5e-7
    normalised: bool = True
    zero_sum: bool = True
    relative: bool = True

    def __post_init__(self) -> None:
        if self.window < 2 * filters.GAUSSIAN_RADIUS + 2:
            raise BadOptionsError(f"a window has at least {2 * filters.GAUSSIAN_RADIUS + 2} counts, not {self.window}")
        if not self.tolerance > 0:
            raise BadOptionsError(f"a tolerance is above 0, not {self.tolerance:g}")


class Published:
    """q of a moving window, its streaming mean, and whether that has settled. O(window) memory, O(1) a count."""

    def __init__(self, method: Method) -> None:
        self._tolerance, self._relative = method.tolerance, method.relative
        self._gaussian = filters.gaussian(normalised=method.normalised)
        self._laplacian = filters.laplacian(zero_sum=method.zero_sum)
        self._kept = method.window - 2 * filters.GAUSSIAN_RADIUS
        self.reset()

    def reset(self) -> None:
        """Begin again: nothing of what was seen counts any more."""
        self._counts: deque[float] = deque(maxlen=len(self._gaussian))
        self._smooth: deque[float] = deque()
        self._origin = self._sum = self._squares = 0.0
        self._until_exact = self._kept
        self._q = Moments()
        self._errors: deque[float] = deque(maxlen=3)
        self._curvature: deque[float] = deque(maxlen=STABLE_OVER)

    @property
    def q_mean(self) -> float | None:
        """Mean of q since the last reset, in items a period; None before the first window is full."""
        return self._q.mean if self._q.n else None

    def add(self, count: float) -> bool:
        """Take the count of one unblocked period; True where the mean of q has just settled."""
        self._counts.append(count)
        if len(self._counts) < len(self._gaussian):
            return False
        self._slide(_dot(self._gaussian, self._counts))
        if len(self._smooth) < self._kept:
            return False
        self._q.add(self._window_q())
        return self._settled()

    def _slide(self, smooth: float) -> None:
        """One filtered value in, the oldest out. Sums run about an origin, and are made anew once a window."""
        if not self._smooth:
            self._origin = smooth
        self._smooth.append(smooth)
        entering = smooth - self._origin
        self._sum += entering
        self._squares += entering * entering
        if len(self._smooth) > self._kept:
            leaving = self._smooth.popleft() - self._origin
            self._sum -= leaving
            self._squares -= leaving * leaving
            self._until_exact -= 1
            if self._until_exact == 0:
                self._sum_anew()

    def _sum_anew(self) -> None:
        self._until_exact = self._kept
        self._origin = self._smooth[-1]
        away = [value - self._origin for value in self._smooth]
        self._sum, self._squares = math.fsum(away), math.fsum(value * value for value in away)

    def _window_q(self) -> float:
        mean = self._sum / self._kept
        variance = max(0.0, (self._squares - self._sum * mean) / (self._kept - 1))
        return self._origin + mean + QUANTILE_Z * math.sqrt(variance)

    def _settled(self) -> bool:
        self._errors.append(self._q.sd / math.sqrt(self._q.n))
        if len(self._errors) < 3:
            return False
        self._curvature.append(_dot(self._laplacian, self._errors))
        if len(self._curvature) < STABLE_OVER:
            return False
        scale = abs(self._q.mean) if self._relative else 1.0
        return max(self._curvature) - min(self._curvature) <= self._tolerance * scale


def _dot(weights: tuple[float, ...], values: deque[float]) -> float:
    return sum(weight * value for weight, value in zip(weights, values, strict=True))
