"""Where and when the runs of a setting were made: what may explain their values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from orchestrator.contracts.designs import Level


@dataclass(frozen=True, kw_only=True, slots=True)
class Circumstance:
    """One valid run of a setting, in all its modes."""

    id: UUID
    replicate: int
    values: Mapping[str, float]
    """Mode -> value in the campaign's unit, in the order in which they were measured."""
    node: str
    job: int
    session: UUID
    """Of its agent."""
    started_at: float
    previous_levels: tuple[Level, ...] | None
    """Of the setting that its node measured just before, in this session; None where it is none of this campaign."""
