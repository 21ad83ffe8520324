"""Summaries for people who look at many things at once: campaigns and their re-runs, nodes and what they did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.contracts.campaigns import Campaign

PACE_WINDOW_S = 60.0
"""Rates are those of the last minute."""
PACE_SHOWN_S = 600.0
PACE_SLICE_S = 10.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Overview:
    """A campaign in a list, with its kept counters."""

    campaign: Campaign
    root_id: int
    """The campaign that it descends from by re-runs, or its own id."""
    valid_runs: int
    invalid_runs: int
    analysed: int
    """Configurations analysed so far, with a fit or without."""
    verdicts: Mapping[str, int]
    """Verdict -> count, of the configurations analysed so far."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pace:
    """How fast valid runs of a campaign come in; once it has ended, how fast they came at the end."""

    runs_per_s: Mapping[str, float]
    """Node -> valid runs a second over the last minute; nodes that brought none are not in it."""
    slices: tuple[float, ...]
    """Valid runs a second in each whole slice of ten seconds, the oldest first: ten minutes, or less at the start."""

    @staticmethod
    def in_slices(runs: Mapping[float, float], *, until: float) -> tuple[float, ...]:
        """Runs by the start of their slice -> runs a second, slice after slice, also where none came.

        A slice that has not ended at `until` is left out: it would look like a fall.
        """
        first = min(runs, default=until)
        whole = max(0, int((until - first) / PACE_SLICE_S))
        return tuple(runs.get(first + number * PACE_SLICE_S, 0.0) / PACE_SLICE_S for number in range(whole))


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeWork:
    """What a node did, over all campaigns, and for whom it works now."""

    node: str
    campaign_id: int | None
    """Of the job it holds now."""
    valid: int
    invalid: int
    last_minute: int
    """Valid runs."""
    last_ten_minutes: int

    @property
    def runs_per_min(self) -> float:
        """Valid runs a minute now: of the last minute, or of the last ten where runs are long."""
        return float(self.last_minute) if self.last_minute >= 10 else self.last_ten_minutes / 10

    @property
    def invalid_share(self) -> float | None:
        """Of all its runs; None before the first."""
        runs = self.valid + self.invalid
        return self.invalid / runs if runs else None
