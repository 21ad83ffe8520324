"""Jobs with what was asked of them and what came of it, the two kept apart.

Everything that is told about a job is known either when it is submitted (`Request`) or only when it has ended
(`Outcome`). Whoever predicts a job is given its request; outcomes are handed out by `timeline` alone, of jobs that had
ended before. A column of the same job's outcome can therefore not reach its features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

import numpy as np

from analysis.arrays import Array, Flags, Indices
from analysis.errors import BadSampleError

Key = tuple[str, ...]
Item = TypeVar("Item")


class Known(StrEnum):
    """When a quantity is known."""

    SUBMITTED = "submitted"  # the user or the scheduler states it
    STARTED = "started"  # the clock, and what earlier jobs have left behind
    ENDED = "ended"  # logs of the job itself, and of the file system while it ran


class Subject(StrEnum):
    """What an outcome's column is about."""

    APPLICATION = "application"
    FILE_SYSTEM = "file system"


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """What is known of a job before it runs."""

    start_s: float  # since 1970, UTC
    key: Key  # direction first, then ever finer; a prefix of it is a relaxed key
    direction: str
    file_system: str
    declared: Array  # (d,): process count, node count, ...; NaN where not told


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What is known of a job once it has ended."""

    log_throughput: float
    measured: Array  # (m,), NaN where not told


@dataclass(frozen=True, kw_only=True)
class Jobs:
    """n jobs in the order of their start."""

    start_s: Array  # (n,), since 1970, UTC
    end_s: Array  # (n,)
    throughput: Array  # (n,), MiB/s or any unit, positive; NaN of jobs that are only asked about
    keys: tuple[Key, ...]
    key_names: tuple[str, ...]
    directions: tuple[str, ...]
    file_systems: tuple[str, ...]
    declared_names: tuple[str, ...]
    declared: Array  # (n, d)
    measured_names: tuple[str, ...]
    measured_subjects: tuple[Subject, ...]
    measured: Array  # (n, m)

    def __post_init__(self) -> None:
        if np.any(np.diff(self.start_s) < 0):
            raise BadSampleError("jobs must be in the order of their start")
        if np.any(self.end_s < self.start_s):
            raise BadSampleError("a job cannot end before it starts: it would be known to itself")

    def __len__(self) -> int:
        return len(self.start_s)

    def request(self, place: int) -> Request:
        """What is known of a job before it runs."""
        return Request(
            start_s=float(self.start_s[place]),
            key=self.keys[place],
            direction=self.directions[place],
            file_system=self.file_systems[place],
            declared=self.declared[place],
        )

    def outcome(self, place: int) -> Outcome:
        """What is known of a job once it has ended."""
        return Outcome(log_throughput=float(np.log(self.throughput[place])), measured=self.measured[place])

    def of_direction(self, direction: str) -> Flags:
        """Which jobs read, or write, (n,)."""
        found: Flags = np.array([one == direction for one in self.directions], dtype=bool)
        return found

    def chosen(self, places: Indices) -> Jobs:
        """Some of the jobs, by ascending places."""
        return Jobs(
            start_s=self.start_s[places],
            end_s=self.end_s[places],
            throughput=self.throughput[places],
            keys=picked(self.keys, places),
            key_names=self.key_names,
            directions=picked(self.directions, places),
            file_systems=picked(self.file_systems, places),
            declared_names=self.declared_names,
            declared=self.declared[places],
            measured_names=self.measured_names,
            measured_subjects=self.measured_subjects,
            measured=self.measured[places],
        )


def picked(items: Sequence[Item], places: Indices) -> tuple[Item, ...]:
    """The items at these places."""
    return tuple(items[place] for place in places)
