"""Runs: facts made on an agent. A run is never overwritten (DESIGN 1 and 8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any
from uuid import UUID


class Validity(StrEnum):
    """Whether a run counts."""

    VALID = "valid"
    """The one run that counts for its (setting, replicate)."""
    INVALID = "invalid"
    """Failed, or observed in a state the study does not accept; kept with its reason, and repeated."""
    SUPERSEDED = "superseded"
    """Came after another valid run of the same replicate; kept, never analysed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One benchmark invocation for one (setting, replicate) on one node.

    A failed run holds no values: a run has all its setting's modes, or is failed as a whole.
    """

    id: UUID
    campaign_id: int
    setting_id: int
    job_id: int
    attempt: int
    replicate: int
    try_number: int
    session: UUID
    """Of the agent that made it; it may come home in a later one."""
    sequence: int
    """Running number of runs on this node, in this session; the order in which they were measured."""
    started_at: float
    """Seconds since the epoch on the database's clock (offset measured at claim)."""
    elapsed_s: float
    """Monotonic duration of the invocation."""
    engine: str
    engine_version: str
    exit_status: int | None
    """None: ended by a signal or never started."""
    values: tuple[float, ...]
    """Throughput in kB/s, in the order of the setting's modes; empty when the run failed."""
    valid: bool
    reason: str | None = None
    """Why it is invalid, in one line."""
    settle_s: float | None = None
    """IOzone's pause around each test, in seconds, as it was really used; None where the engine has none."""
    previous_setting_id: int | None = None
    """What this node measured just before, in this session."""
    details: Mapping[str, object] = field(default_factory=dict)
    """Per-mode details of the engine, and the raw output of a run that failed."""
    observed: Mapping[str, object] = field(default_factory=dict)
    """The node's state around the run."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-able values, for the spool and the database."""
        values = {name: getattr(self, name) for name in _NAMES}
        return values | {"id": str(self.id), "session": str(self.session), "values": list(self.values)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Run:
        """The inverse of `as_dict`."""
        ids = {"id": UUID(record["id"]), "session": UUID(record["session"])}
        return cls(**{**record, **ids, "values": tuple(record["values"])})


_NAMES = tuple(column.name for column in fields(Run))


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """What became of a batch of runs, by run id."""

    valid: tuple[UUID, ...] = ()
    invalid: tuple[UUID, ...] = ()
    superseded: tuple[UUID, ...] = ()
    known: tuple[UUID, ...] = ()
    """Stored before with the same values: a no-op."""
    conflicting: tuple[UUID, ...] = ()
    """Stored before with other values: reported, the first version stays."""
