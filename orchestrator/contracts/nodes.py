"""Nodes and sessions: who can do the work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID


class NodeState(StrEnum):
    """Whether a node is given work."""

    READY = "ready"
    DRAINING = "draining"
    QUARANTINED = "quarantined"
    """Three node-class failures in a row on different jobs; an operator lets it back."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hello:
    """An agent reports for work. One session is one life of an agent on one boot of its node."""

    node: str
    session: UUID
    boot_id: str
    version: str
    """Modescope's version."""
    engines: Mapping[str, str] = field(default_factory=dict)
    """Engine name -> version, for every engine that can run here."""
    facts: Mapping[str, object] = field(default_factory=dict)
    spool_runs: int = 0
    """Runs that had waited in its spool before it could report."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """A node as the ledger knows it."""

    name: str
    state: NodeState
    reason: str | None
    online: bool
    """Its agent has a session and was heard of lately, or holds a live lease."""
    seen_s_ago: float | None
    engines: Mapping[str, str]
    facts: Mapping[str, object]
    job_id: int | None
    """The job it holds now."""
