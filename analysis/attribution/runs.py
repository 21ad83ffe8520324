"""The runs of one configuration, with where, when and under which circumstances each was made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from analysis.arrays import Array, Flags, Indices
from analysis.errors import AnalysisError

Words = tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Runs:
    """The n valid runs of one configuration in order of start. What is not known is empty.

    `numbers` and `words` hold further circumstances by name, n of each: temperature, observed frequency, what was
    measured before. A number is NaN where it was not observed. Raises `AnalysisError` for a wrong length.
    """

    values: Array
    nodes: Words = ()
    jobs: Words = ()
    sessions: Words = ()
    # Seconds since the epoch.
    started_at: Array | None = None
    numbers: Mapping[str, Array] = field(default_factory=dict)
    words: Mapping[str, Words] = field(default_factory=dict)

    def __post_init__(self) -> None:
        columns = {"nodes": self.nodes, "jobs": self.jobs, "sessions": self.sessions, **self.numbers, **self.words}
        for name, column in columns.items():
            if len(column) not in (0, len(self.values)):
                raise AnalysisError(f"{name}: {len(column)} entries for {len(self.values)} runs")

    @property
    def n(self) -> int:
        """Number of runs."""
        return len(self.values)

    def kept(self, which: Flags) -> Self:
        """Those of the runs."""
        return replace(
            self,
            values=self.values[which],
            nodes=_of(self.nodes, which),
            jobs=_of(self.jobs, which),
            sessions=_of(self.sessions, which),
            started_at=None if self.started_at is None else self.started_at[which],
            numbers={name: column[which] for name, column in self.numbers.items()},
            words={name: _of(column, which) for name, column in self.words.items()},
        )

    def without_warm_up(self, discard: int) -> Self:
        """Without the first `discard` runs of every job."""
        return self.kept(place_in_job(self.jobs, self.n) >= discard)


def codes(labels: Sequence[str]) -> tuple[Indices, Words]:
    """A number for each label, (n,), and the labels by number, in the order in which they first occur."""
    names = tuple(dict.fromkeys(labels))
    number = {name: place for place, name in enumerate(names)}
    return np.array([number[label] for label in labels], dtype=np.int64), names


def place_in_job(jobs: Words, n: int) -> Indices:
    """0 for the first run of a job, 1 for the second, ...; n runs of unknown jobs are all first ones of none."""
    places, seen = np.zeros(n, dtype=np.int64), dict.fromkeys(jobs, 0)
    for run, job in enumerate(jobs):
        places[run] = seen[job]
        seen[job] += 1
    return places


def _of(column: Words, which: Flags) -> Words:
    return tuple(label for label, keep in zip(column, which, strict=True) if keep) if column else ()
