"""Temporal inconsistency: are the last to arrive always the same (Table I), and how quickly does the set change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from analysis.arrays import Array, Flags, Indices
from analysis.criticality.trace import Trace
from analysis.errors import BadOptionsError

Ties = Literal["rank", "all"]
TIES: tuple[Ties, ...] = ("rank", "all")
LAGS = (1, 2, 5, 10, 20, 50, 100)


@dataclass(frozen=True, kw_only=True)
class Inconsistency:
    """Who belonged to a set of ranks, over the collectives of all settings; a (setting, rank) counts once."""

    ranks: int
    """(Setting, rank) pairs that took part."""
    collectives: int
    always: int
    sometimes: int
    """Includes those that always did."""
    overlap: Array
    """(lags,) mean share of a set that is again in the set so many collectives later; nan where none is as late."""
    chance: float
    """What the overlap would be, were each set drawn anew."""
    counts: Array
    """(settings, R) in how many collectives each rank belonged to the set."""

    @property
    def sometimes_only(self) -> int:
        """Sometimes, but not always."""
        return self.sometimes - self.always

    @property
    def never(self) -> int:
        return self.ranks - self.sometimes


def slow_sets(trace: Trace, share: float, *, ties: Ties = "rank") -> Flags:
    """(K, R) the last ceil(share R) ranks to reach each collective, of the R that took part.

    Among equally late ones the lower rank is taken first; with ties = `all`, everyone as late as the last one taken
    is. Raises `BadOptionsError`.
    """
    if not 0 < share <= 1:
        raise BadOptionsError(f"the share of slow ranks is above 0 and at most 1, not {share:g}")
    slow = np.zeros(trace.arrival_s.shape, dtype=bool)
    for row, arrival_s in enumerate(trace.arrival_s):
        slow[row] = _slow(arrival_s, share, ties)
    return slow


def _slow(arrival_s: Array, share: float, ties: Ties) -> Flags:
    late = np.where(np.isnan(arrival_s), -np.inf, arrival_s)
    took_part = int(np.sum(~np.isnan(arrival_s)))
    if took_part == 0:
        return np.zeros(len(arrival_s), dtype=bool)
    # A share such as .05 of 20 is 1.0000000000000002 in floating point: that is one rank, not two.
    size = max(1, int(np.ceil(share * took_part - 1e-9)))
    threshold = np.partition(late, len(late) - size)[len(late) - size]
    if ties == "all":
        everyone: Flags = late >= threshold
        return everyone
    slow: Flags = late > threshold
    slow[np.flatnonzero(late == threshold)[: size - int(np.sum(slow))]] = True
    return slow


def of_sets(trace: Trace, members: Flags, rows: Flags | None = None) -> Inconsistency:
    """How constant these sets are; (K, R) members, and the (K,) collectives that count (all of two ranks or more)."""
    took_part = ~np.isnan(trace.arrival_s)
    compared = np.sum(took_part, axis=1) > 1
    counted = compared if rows is None else rows & compared
    by_setting = [found[counted[found]] for found in trace.by_setting()]
    counts = np.array([np.sum(members[found], axis=0) for found in by_setting], dtype=np.float64)
    chances = np.array([np.sum(took_part[found], axis=0) for found in by_setting])
    present = chances > 0
    return Inconsistency(
        ranks=int(np.sum(present)),
        collectives=int(np.sum(counted)),
        always=int(np.sum(present & (counts == chances))),
        sometimes=int(np.sum(counts > 0)),
        overlap=np.array([_overlap(members, by_setting, lag) for lag in LAGS]),
        chance=_chance(members, took_part, by_setting),
        counts=counts,
    )


def _overlap(members: Flags, by_setting: list[Indices], lag: int) -> float:
    shared, size = 0, 0
    for found in by_setting:
        shared += int(np.sum(members[found[:-lag]] & members[found[lag:]]))
        size += int(np.sum(members[found[:-lag]]))
    return shared / size if size else float("nan")


def _chance(members: Flags, took_part: Flags, by_setting: list[Indices]) -> float:
    """The mean share of ranks in the set that follows, seen from each member."""
    expected, size = 0.0, 0
    for found in by_setting:
        members_of, ranks_of = np.sum(members[found], axis=1), np.sum(took_part[found], axis=1)
        expected += float(np.sum(members_of[:-1] * members_of[1:] / np.maximum(ranks_of[1:], 1)))
        size += int(np.sum(members_of[:-1]))
    return expected / size if size else float("nan")
