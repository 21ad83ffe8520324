"""Rounds of several nodes that began together, and nodes that hold them up."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, kw_only=True, slots=True)
class Finish:
    """One node's part in one round."""

    run: UUID
    round: int
    start_at: float
    """The instant that was given to all who were ready, in seconds since the epoch by the database's clock."""
    setting_id: int
    node: str
    started_at: float
    """When it really began."""
    elapsed_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class CriticalNode:
    """A node for which rounds wait again and again; `named` is False when that is over."""

    node: str
    named: bool
    since: float
    """Start of the first of the rounds that tell it."""
    rounds: int
    """Labelled rounds that it took part in since then."""
    critical: int
    """Of these."""
    chance: float
    """The share to be expected, were each round's critical nodes drawn anew."""
    differs: str | None = None
    """What was observed otherwise on this node since then; None: nothing tells it apart."""
