"""How often each rank was critical, and whether that is more often than the number of critical ones explains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.arrays import Flags
from analysis.criticality.trace import Trace

LEVEL = 0.05
"""Of all ranks together (Bonferroni)."""


@dataclass(frozen=True, kw_only=True)
class Frequency:
    """One rank, over the collectives that count."""

    collectives: int
    """That it took part in."""
    critical: int
    low: float
    """With `high`, Wilson's 95 % interval of the share, as if collectives were independent."""
    high: float
    chance: float
    """The share that would be critical, were each collective's critical set drawn anew from those who took part."""
    stands_out: bool
    """Whether it is critical more often than such draws explain."""

    @property
    def share(self) -> float:
        return self.critical / self.collectives


def frequencies(trace: Trace, critical: Flags, rows: Flags) -> list[Frequency | None]:
    """One a rank, over the (K,) `rows`; None for a rank that took part in none of them."""
    took_part = ~np.isnan(trace.arrival_s[rows])
    labels = critical[rows]
    drawn = np.sum(labels, axis=1) / np.maximum(np.sum(took_part, axis=1), 1)
    return [_of_rank(took_part[:, rank], labels[:, rank], drawn, len(trace.ranks)) for rank in range(len(trace.ranks))]


def _of_rank(took_part: Flags, labels: Flags, drawn: np.ndarray, ranks: int) -> Frequency | None:
    from scipy import stats  # half a second that agents, who import this package too, need not spend

    collectives, critical = int(np.sum(took_part)), int(np.sum(labels))
    if collectives == 0:
        return None
    chances = drawn[took_part]
    expected, deviation = float(np.sum(chances)), float(np.sqrt(np.sum(chances * (1 - chances))))
    interval = stats.binomtest(critical, collectives).proportion_ci(method="wilson")
    beyond = critical - 0.5 - expected
    return Frequency(
        collectives=collectives,
        critical=critical,
        low=float(interval.low),
        high=float(interval.high),
        chance=expected / collectives,
        stands_out=deviation > 0 and bool(stats.norm.sf(beyond / deviation) * ranks <= LEVEL),
    )
