"""What the latest runs of every setting cost, and on which nodes: as large from the first run on as ever."""

from __future__ import annotations

import numpy as np

from analysis.arrays import Array, Indices

RUNS_A_SETTING = 16


class RecentRuns:
    """Seconds and nodes of the last sixteen runs of each of `settings` settings."""

    def __init__(self, settings: int) -> None:
        self._seconds = np.zeros((settings, RUNS_A_SETTING))
        self._nodes = np.zeros((settings, RUNS_A_SETTING), dtype=np.int64)
        self._count = np.zeros(settings, dtype=np.int64)

    def add(self, setting: int, node: int, seconds: float) -> None:
        """A run; the oldest of its setting is forgotten."""
        place = self._count[setting] % RUNS_A_SETTING
        self._seconds[setting, place] = seconds
        self._nodes[setting, place] = node
        self._count[setting] += 1

    def all(self) -> tuple[Indices, Indices, Array]:
        """(n,) setting, node and seconds of every run that is remembered."""
        known = np.arange(RUNS_A_SETTING) < self._count[:, None]
        return np.nonzero(known)[0], self._nodes[known], self._seconds[known]
