"""How fast nodes work, and how long it will take (docs/service-rate.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, kw_only=True, slots=True)
class Completion:
    """A valid run as rates see it."""

    job_id: int
    setting: int
    """Its ordinal."""
    node: str
    session: UUID
    sequence: int
    started_at: float
    """Seconds since the epoch, by the ledger's clock."""
    elapsed_s: float
    done_at: float | None
    """When its job was done; None: it is in hand."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InHand:
    """What a node has still to do of the job it holds."""

    node: str
    setting: int
    missing: int
    """Replicates without a valid run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenWork:
    """What is to be done, and who may do it now."""

    settings: Sequence[int]
    """Of every job that waits, in their order: the setting's ordinal; so are the next two."""
    first_replicates: Sequence[int]
    replicates: Sequence[int]
    in_hand: Sequence[InHand]
    nodes: Sequence[str]
    """Online, at work, with the engine; of a pinned campaign, those it names."""
    now: float
    """Seconds since the epoch, by the ledger's clock."""
    elapsed_s: float
    """Since the first claim."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeRate:
    """How fast a node works while nothing holds it up, in runs of the campaign's average cost."""

    node: str
    campaign_id: int
    runs_per_s: float
    low_per_s: float
    high_per_s: float
    """With the one before, a 95 % interval."""
    runs: int
    """On which the estimate rests."""
    since: float
    """Of the first of these: the rate has been steady since. Seconds since the epoch."""
    at: float
    """When the controller told it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundRate:
    """A node's rate, to be kept."""

    node: str
    runs_per_s: float
    low_per_s: float
    high_per_s: float
    runs: int
    since: float
    change: str | None
    """What happened when this phase began, in one sentence; None: nothing was seen to change."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Forecast:
    """A campaign's rate over all its nodes (95 % interval), and its time left (80 % interval)."""

    runs_per_s: float | None
    low_per_s: float | None
    high_per_s: float | None
    time_left_s: float | None
    """The median; None: nobody can tell, and `reason` says why."""
    time_left_low_s: float | None
    time_left_high_s: float | None
    nodes: int
    """That work on it."""
    reason: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Duration:
    """How long a study will take, before its first run, with an 80 % interval."""

    seconds: float
    """The median."""
    low_s: float
    high_s: float
    nodes: int
    """That share the work."""
    runs: int
    """Of past campaigns from which the costs were learned; 0: they are the defaults that come with Modescope."""
    campaigns: Sequence[int]
    """These campaigns."""
