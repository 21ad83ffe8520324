"""Change points over run order, by binary segmentation of ranks; each must stand a permutation test."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from analysis.arrays import Array, Indices
from analysis.attribution.shuffles import shuffles

SHUFFLES = 499
LARGEST_P = 0.01
# Runs on either side.
FEWEST = 10


@dataclass(frozen=True, kw_only=True)
class Change:
    """From run `at` (0-based, in order of start) on, the median is `after`; it was `before`."""

    at: int
    before: float
    after: float
    p: float


def changes(values: Array, blocks: Indices, rng: np.random.Generator, *, largest_p: float = LARGEST_P) -> list[Change]:
    """Where the level of `values` (n,), in order of start, changes; runs of a block (n,) keep together by chance.

    The split with the largest between-segment sum of squares of ranks is kept when fewer than `largest_p` of shuffled
    orders have one as large; then both sides are searched.
    """
    found = sorted(_search(values, blocks, 0, rng, largest_p))
    bounds = [0, *(at for at, _ in found), len(values)]
    return [
        Change(
            at=at,
            before=float(np.median(values[bounds[place] : at])),
            after=float(np.median(values[at : bounds[place + 2]])),
            p=p,
        )
        for place, (at, p) in enumerate(found)
    ]


def segments(n: int, found: list[Change]) -> Indices:
    """The number of the segment of each of n runs, (n,)."""
    return np.searchsorted([change.at for change in found], np.arange(n), side="right").astype(np.int64)


def _search(
    values: Array, blocks: Indices, begin: int, rng: np.random.Generator, largest_p: float
) -> list[tuple[int, float]]:
    """(run, p) of each change in these runs, the first of which is run `begin`."""
    if len(values) < 2 * FEWEST or np.ptp(values) == 0:
        return []
    ranks = rankdata(values)
    ranks -= np.mean(ranks)
    splits = _between(ranks[None])[0]
    drawn = np.max(_between(ranks[shuffles(blocks, SHUFFLES, rng)]), axis=1)
    p = float(1 + np.sum(drawn >= np.max(splits) - 1e-9)) / (1 + SHUFFLES)
    if p > largest_p:
        return []
    at = FEWEST + int(np.argmax(splits))
    before = _search(values[:at], blocks[:at], begin, rng, largest_p)
    return [*before, (begin + at, p), *_search(values[at:], blocks[at:], begin + at, rng, largest_p)]


def _between(ranks: Array) -> Array:
    """Sum of squares between the two sides of every split of centred ranks (b, n), (b, splits)."""
    n = ranks.shape[1]
    left = np.arange(FEWEST, n - FEWEST + 1)
    sums = np.cumsum(ranks, axis=1)[:, left - 1]
    return np.asarray(sums**2 * (n / (left * (n - left))))
