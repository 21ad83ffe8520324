"""The study's `node` part: the state a node has to be in. What a node cannot fulfil fails the job, never silently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from orchestrator.contracts.errors import StudyError


class Cadence(StrEnum):
    """How often something is done to a node."""

    NEVER = "never"
    PER_JOB = "per_job"
    PER_RUN = "per_run"


class Frequency(StrEnum):
    """Whether the CPU frequency is set."""

    PINNED = "pinned"
    """To the level of the factor `frequency_khz`, on all CPUs."""
    AS_IS = "as_is"
    """Left alone; stored as such with every run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Preparation:
    """What is done to a node, and how often."""

    frequency: Frequency = Frequency.AS_IS
    trim: Cadence = Cadence.NEVER
    drop_caches: Cadence = Cadence.NEVER

    def as_dict(self) -> dict[str, Any]:
        """JSON-able values."""
        return {name: str(value) for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, options: Mapping[str, object]) -> Preparation:
        """Read the study's `node` mapping. Raises StudyError on an unknown key or value."""
        kinds = {"frequency": Frequency, "trim": Cadence, "drop_caches": Cadence}
        chosen: dict[str, Any] = {}
        for name, value in options.items():
            kind = kinds.get(name)
            if kind is None:
                raise StudyError(f"node: unknown key {name!r}; known: {', '.join(kinds)}")
            allowed = [str(member) for member in kind]
            if value not in allowed:
                raise StudyError(f"node.{name}: {value!r} is not one of {', '.join(allowed)}")
            chosen[name] = kind(str(value))
        return cls(**chosen)
