"""What the published procedure knows of jobs: features by where they come from, and who ran which program."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from analysis.arrays import Array, Indices
from analysis.log_prediction.jobs import picked


class Source(StrEnum):
    """Which log tells a feature."""

    SCHEDULER = "scheduler"  # known when the job is submitted
    APPLICATION = "application"  # Darshan, when the job has ended; before, of the most recent run
    FILE_SYSTEM = "file system"  # LMT, when the job has ended; before, predicted


@dataclass(frozen=True, kw_only=True)
class Records:
    """n jobs in the order of their start."""

    start_s: Array  # (n,)
    end_s: Array  # (n,)
    target: Array  # (n,), throughput
    owners: tuple[tuple[str, str, str], ...]  # program, user, group
    names: tuple[str, ...]
    sources: tuple[Source, ...]  # of each feature
    values: Array  # (n, features), of the jobs themselves; NaN where not told
    intensity: Array  # (n,), percent of the file system's bytes that the job moved; NaN where not told

    def __len__(self) -> int:
        return len(self.start_s)

    def of(self, *sources: Source) -> tuple[int, ...]:
        """The features that these logs tell."""
        return tuple(place for place, source in enumerate(self.sources) if source in sources)

    def chosen(self, places: Indices) -> Records:
        """Some of the jobs, by ascending places."""
        return replace(
            self,
            start_s=self.start_s[places],
            end_s=self.end_s[places],
            target=self.target[places],
            owners=picked(self.owners, places),
            values=self.values[places],
            intensity=self.intensity[places],
        )


def most_recent(records: Records) -> Indices:
    """Of each job the place of the most recent run that had ended when it started, (n,); -1 where there is none.

    Of the same program, user and group; where there is none, of the same program and user; then of the same program.
    In print ORDER BY StartTime and [0] would take the oldest; the text says the most recent.
    """
    ended = np.argsort(records.end_s, kind="stable")
    newest: dict[tuple[str, ...], int] = {}
    found = np.full(len(records), -1, dtype=np.int64)
    waiting: list[int] = []
    next_to_end = 0
    for place in range(len(records)):
        while next_to_end < len(ended) and records.end_s[ended[next_to_end]] < records.start_s[place]:
            waiting.append(int(ended[next_to_end]))
            next_to_end += 1
        for one in waiting:
            for owner in _relaxed(records.owners[one]):
                other = newest.get(owner, -1)
                if other < one:  # places are in the order of StartTime
                    newest[owner] = one
        waiting.clear()
        found[place] = next((newest[owner] for owner in _relaxed(records.owners[place]) if owner in newest), -1)
    return found


def _relaxed(owner: tuple[str, str, str]) -> tuple[tuple[str, ...], ...]:
    return owner, owner[:2], owner[:1]
