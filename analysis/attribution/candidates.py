"""What might explain to which density mode a run belongs."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analysis.arrays import Array, Indices
from analysis.attribution.runs import Runs, Words, codes, place_in_job

NODE, SESSION, ORDER, TIME_OF_DAY, PLACE_IN_JOB = "node", "session", "order of runs", "time of day", "place in job"
BINS = 8
# A column that was not observed for more of the runs than this is left out.
MOST_MISSING = 0.2
DAY_S = 86_400.0
# Shorter campaigns see each hour once: the time of day is then only the order of runs again.
DAYS = 2.0
HOURS = 4


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidate:
    """A circumstance of n runs: a number (n,), or `groups` (n,) with their names, which are then numbered."""

    name: str
    number: Array
    groups: Indices | None = None
    group_names: Words = ()

    def parts(self) -> Indices:
        """Its groups; of a number, groups of neighbouring values: what is held constant to ask for the others."""
        if self.groups is not None:
            return self.groups
        edges = np.quantile(self.number, np.linspace(0, 1, BINS + 1)[1:-1])
        return np.searchsorted(np.unique(edges), self.number, side="left").astype(np.int64)


def candidates(runs: Runs) -> Iterator[Candidate]:
    """All that varies between the runs and was observed for enough of them."""
    yield from _grouped(NODE, runs.nodes)
    if codes(runs.sessions)[1] and not _same_parts(runs.sessions, runs.nodes):
        yield from _grouped(SESSION, runs.sessions)
    yield Candidate(name=ORDER, number=np.arange(runs.n, dtype=np.float64))
    if runs.started_at is not None and np.ptp(runs.started_at) >= DAYS * DAY_S:
        hour = (runs.started_at % DAY_S // (3600 * HOURS)).astype(np.int64) * HOURS
        yield from _grouped(TIME_OF_DAY, tuple(f"{h}:00 to {h + HOURS}:00 UTC" for h in hour.tolist()))
    yield from _numbered(PLACE_IN_JOB, place_in_job(runs.jobs, runs.n).astype(np.float64))
    for name, column in runs.numbers.items():
        yield from _numbered(name, column)
    for name, words in runs.words.items():
        yield from _grouped(name, words)


def held_together(runs: Runs) -> Indices:
    """The parts of jobs that one session did in one go, (n,); every run by itself where jobs are not known."""
    if not runs.jobs:
        return np.arange(runs.n)
    others = [column for column in (runs.sessions, runs.nodes) if column]
    return codes([" ".join(parts) for parts in zip(runs.jobs, *others, strict=True)])[0]


def finest_place(runs: Runs) -> Indices:
    """The session of each run, or its node, or one place for all."""
    places = [column for column in (runs.nodes, runs.sessions) if column]
    return codes([" ".join(parts) for parts in zip(*places, strict=True)] or [""] * runs.n)[0]


def _grouped(name: str, labels: Words) -> Iterator[Candidate]:
    number, names = codes(labels)
    # As many groups as runs explain everything, and nothing.
    if 2 <= len(names) <= len(labels) / 3:
        yield Candidate(name=name, number=number.astype(np.float64), groups=number, group_names=names)


def _numbered(name: str, column: Array) -> Iterator[Candidate]:
    known = np.isfinite(column)
    if np.mean(known) < 1 - MOST_MISSING or np.ptp(column[known]) == 0:
        return
    yield Candidate(name=name, number=np.where(known, column, np.median(column[known])))


def _same_parts(one: Words, other: Words) -> bool:
    """Do both divide the runs in the same way?"""
    if not other:
        return False
    first, second = codes(one)[0], codes(other)[0]
    return not any((a == b) != (c == d) for (a, c), (b, d) in pairwise(zip(first, second, strict=True))) and len(
        set(zip(first, second, strict=True))
    ) == len(set(first)) == len(set(second))
