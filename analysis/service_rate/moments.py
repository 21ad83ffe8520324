"""Mean, variance, skewness and kurtosis of a stream, in constant memory.

Welford (1962), in the form of Chan, Golub and LeVeque (1983) that merges two streams; third and fourth moments by
Pebay (2008), equations 2.1 and 2.2.
"""

import math
from dataclasses import dataclass


@dataclass(kw_only=True, slots=True)
class Moments:
    """What is known of the numbers added so far. Sums of powers of deviations from the mean: m2, m3, m4."""

    n: int = 0
    mean: float = 0.0
    m2: float = 0.0
    m3: float = 0.0
    m4: float = 0.0

    def add(self, x: float) -> None:
        """Take one more number."""
        before = self.n
        self.n = n = before + 1
        delta = x - self.mean
        step = delta / n
        square = step * step
        term = delta * step * before
        self.mean += step
        self.m4 += term * square * (n * n - 3 * n + 3) + 6 * square * self.m2 - 4 * step * self.m3
        self.m3 += term * step * (n - 2) - 3 * step * self.m2
        self.m2 += term

    def merged(self, other: "Moments") -> "Moments":
        """The moments of both streams together."""
        if self.n == 0 or other.n == 0:
            return other if self.n == 0 else self
        a, b = self.n, other.n
        n = a + b
        delta = other.mean - self.mean
        ratio = delta / n
        return Moments(
            n=n,
            mean=self.mean + ratio * b,
            m2=self.m2 + other.m2 + delta * ratio * a * b,
            m3=self.m3 + other.m3 + delta * ratio**2 * a * b * (a - b) + 3 * ratio * (a * other.m2 - b * self.m2),
            m4=self.m4
            + other.m4
            + delta * ratio**3 * a * b * (a * a - a * b + b * b)
            + 6 * ratio**2 * (a * a * other.m2 + b * b * self.m2)
            + 4 * ratio * (a * other.m3 - b * self.m3),
        )

    @property
    def variance(self) -> float:
        """Sample variance (n - 1); 0 below two numbers."""
        return self.m2 / (self.n - 1) if self.n > 1 else 0.0

    @property
    def sd(self) -> float:
        """Sample standard deviation."""
        return math.sqrt(self.variance)

    @property
    def skewness(self) -> float | None:
        """m3 / m2^(3/2) with population moments; None for a constant stream."""
        return math.sqrt(self.n) * self.m3 / self.m2**1.5 if self.m2 > 0 else None

    @property
    def kurtosis(self) -> float | None:
        """Excess kurtosis, 0 for a normal distribution; None for a constant stream."""
        return self.n * self.m4 / self.m2**2 - 3 if self.m2 > 0 else None
