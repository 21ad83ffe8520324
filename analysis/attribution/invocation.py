"""What the other modes and the processes of an invocation say: was a run slow as a whole, and in all of its processes?

Here a *mode* is one of IOzone's I/O operation modes.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.stats import false_discovery_control, rankdata

from analysis.arrays import Array, Flags

LARGEST_Q = 0.05
# Chance that a slow run is slower in the other mode than a run that is not slow: as far from a half as counts.
FEWEST, STRONG = 5, 0.75


@dataclass(frozen=True, kw_only=True)
class Shared:
    """Whether runs that are slow in this mode are slow in another: `chance` is 0.5 where the modes do not go together.

    `chance`: that a run which is slow here has a smaller value there than one which is not slow (the rank-sum test's
    statistic over the number of pairs).
    """

    mode: str
    chance: float
    q: float

    @property
    def slow_too(self) -> bool:
        """Whether that is certain and strong."""
        return self.q <= LARGEST_Q and self.chance >= STRONG


def shared_with(slow: Flags, others: Mapping[str, Array]) -> tuple[Shared, ...]:
    """For each other mode of the same runs, (n,) values each, whether runs that are slow here are slow there.

    Empty where there are not five runs of either kind.
    """
    if min(np.sum(slow), np.sum(~slow)) < FEWEST or not others:
        return ()
    pairs = float(np.sum(slow) * np.sum(~slow))
    tests = [stats.mannwhitneyu(values[~slow], values[slow]) for values in others.values()]
    q = false_discovery_control([float(test.pvalue) for test in tests])
    return tuple(
        Shared(mode=mode, chance=float(test.statistic) / pairs, q=float(value))
        for mode, test, value in zip(others, tests, q, strict=True)
    )


def rank_in_others(others: Mapping[str, Array]) -> Array:
    """Mean rank of each run over the other modes, from 0 (the slowest in all) to 1, (n,)."""
    ranks = [(rankdata(values) - 0.5) / len(values) for values in others.values()]
    mean: Array = np.mean(ranks, axis=0)
    return mean


def processes_that_took_part(average: Array, smallest: Array, slow: Flags) -> float | None:
    """Share of the processes of a slow run that were slow: 1 when all were, 1 / p when one of p was; the median.

    `average` and `smallest` are each run's throughput a process, (n,). What its processes fall short of the median
    run that is not slow, on average, over what the slowest one falls short. None where too few runs tell.
    """
    known = np.isfinite(average) & np.isfinite(smallest)
    if np.sum(slow & known) < FEWEST or np.sum(~slow & known) < FEWEST:
        return None
    usual = float(np.median(average[~slow & known]))
    short, shortest = usual - average[slow & known], usual - smallest[slow & known]
    telling = (shortest > 0) & (short > 0)
    if np.sum(telling) < FEWEST:
        return None
    return float(np.median(np.clip(short[telling] / shortest[telling], 0, 1)))
