"""Jobs: the unit of leasing. A job is a setting and a contiguous range of replicates on one node (DESIGN 1 to 4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from orchestrator.contracts.designs import Level
from orchestrator.contracts.runs import Receipt


class State(StrEnum):
    """Where a job stands. `TRANSITIONS` says where it may go from there."""

    QUEUED = "queued"
    """Waits for a node to be chosen; nothing about it is in Redis."""
    OFFERED = "offered"
    """Chosen for a node; a message may be under way, and may be lost."""
    LEASED = "leased"
    """Claimed by an agent, which holds a token until the lease ends."""
    DONE = "done"
    """Every replicate of its range has a valid run."""
    SET_ASIDE = "set_aside"
    """Given up after repeated fruitless attempts; the campaign says so."""
    CANCELLED = "cancelled"


TRANSITIONS: Mapping[State, frozenset[State]] = {
    State.QUEUED: frozenset({State.OFFERED, State.DONE, State.SET_ASIDE, State.CANCELLED}),
    State.OFFERED: frozenset({State.LEASED, State.QUEUED, State.DONE, State.CANCELLED, State.SET_ASIDE}),
    State.LEASED: frozenset({State.DONE, State.QUEUED, State.SET_ASIDE, State.CANCELLED}),
    State.DONE: frozenset(),
    State.SET_ASIDE: frozenset({State.DONE}),  # a spool that comes home late may still complete it
    State.CANCELLED: frozenset(),
}

OPEN = frozenset({State.QUEUED, State.OFFERED, State.LEASED})


class FailureKind(StrEnum):
    """Whose fault a failed attempt was; decides who is tried next (DESIGN 4)."""

    STUDY = "study"
    """The node works, but cannot do what this study asks of it."""
    NODE = "node"
    """The node is at fault: disk full, target read-only, benchmark missing. The job does not pay for it."""
    ENGINE = "engine"
    """The benchmark itself failed: crash, time-out, garbled output."""
    LOST = "lost"
    """The lease ran out: nobody knows what happened."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedJob:
    """A job as the planner makes it, before it has an id."""

    setting: int
    """The setting's ordinal."""
    block: int
    """0-based: which block of replicates of its setting this is."""
    position: int
    """0-based place in the campaign's order; jobs are handed out by it."""
    first_replicate: int
    replicates: int
    node: str | None = None
    """Only this node may do it (placements `pinned` and `lockstep`)."""
    round: int | None = None
    """0-based: jobs of the same round begin together, each on its node (placement `lockstep`)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """A job as the ledger shows it."""

    id: int
    campaign_id: int
    setting_id: int
    ordinal: int
    """Its setting's place in the design."""
    block: int
    position: int
    first_replicate: int
    replicates: int
    state: State
    node: str | None
    """Where it is offered, leased or was done."""
    own: str | None
    """The only node that may have it, as the study says (pinned) or as it was dealt (balanced)."""
    attempts: int
    """How often it was claimed."""
    reason: str | None
    """Why its last attempt failed, when one did."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pending:
    """A replicate that still has no valid run, and which try comes next (both 0-based)."""

    replicate: int
    attempt: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Assignment:
    """What an agent holds after a successful claim: all it needs to carry the job out without asking again."""

    job_id: int
    campaign_id: int
    setting_id: int
    token: UUID
    attempt: int
    """1-based: how often the job has been claimed, this time included."""
    factors: tuple[str, ...]
    levels: tuple[Level, ...]
    modes: tuple[str, ...]
    engine: str
    engine_options: Mapping[str, object]
    node_options: Mapping[str, object]
    """The study's `node` part: what to prepare (contracts.preparation)."""
    pending: tuple[Pending, ...]
    max_tries: int
    """A replicate whose runs were invalid this often makes the job fail."""
    lease_s: float
    """How long the lease lasts from the claim, by the database's clock."""
    database_time: float
    """Seconds since the epoch by the database's clock when the claim was granted: the agent's clock is never asked."""
    ledger: UUID
    round: int | None = None
    """The run begins together with others (`Jobs.line_up`), and there is no second one before the job is given back."""

    @property
    def setting(self) -> dict[str, Level]:
        """Factor -> level, in the study's order."""
        return dict(zip(self.factors, self.levels, strict=False))


@dataclass(frozen=True, kw_only=True, slots=True)
class Renewal:
    """The answer to a renewal: may the holder go on?"""

    granted: bool
    """False when another attempt holds the job, or it is over: stop at once, keep the runs."""
    stop: str | None = None
    """'pause' or 'cancel': release the job before the next run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LineUp:
    """The answer to a node that is prepared and asks when its round begins."""

    granted: bool
    """False as in `Renewal`."""
    stop: str | None = None
    start_at: float | None = None
    """The instant given to all who are ready, by the database's clock; None: others are waited for, ask again."""
    again_s: float = 0.0
    """How long to wait before asking again."""
    database_time: float | None = None
    """Seconds since the epoch by the database's clock when it answered."""


class Ending(StrEnum):
    """How a holder gives a job back."""

    COMPLETE = "complete"
    RELEASE = "release"
    """Nothing wrong: pause, stop, drain. The attempt is not counted."""
    FAIL = "fail"


@dataclass(frozen=True, kw_only=True, slots=True)
class HandedOver:
    """What came of a job that was given back with its last runs."""

    receipt: Receipt
    next: Assignment | None = None
    """The job to go on with; None when nothing was offered."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """Why an attempt failed."""

    kind: FailureKind
    reason: str
    details: Mapping[str, object] = field(default_factory=dict)
