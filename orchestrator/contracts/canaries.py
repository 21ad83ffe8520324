"""What canary settings say about nodes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class LevelChange:
    """A node's level changed, and stayed so."""

    since: float
    """When its first run of the new level began."""
    change: float
    """As a share: -0.1 is a tenth lower than before."""
    p: float


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeCanaries:
    """One node beside the median of all others, by the canaries that all of them measure at intervals."""

    node: str
    runs: int
    visits: int
    """Jobs: their runs follow each other, and are alike."""
    standing: str
    """`equivalent` (the 90 % interval lies within the margin), `different` (the interval for all nodes together lies
    outside it), else `undecided`."""
    difference: float
    """As a share of what is usual; -0.08 is 8 % below the others."""
    low: float | None
    """90 % interval of the difference; None where there is no other node."""
    high: float | None
    changes: tuple[LevelChange, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class CanaryReport:
    """All nodes, and what might be left out. Nothing is left out by itself."""

    margin: float
    settings: tuple[int, ...]
    """Ids of the canaries."""
    modes: tuple[str, ...]
    nodes: tuple[NodeCanaries, ...]
    proposals: tuple[str, ...]
    """Sentences, each with the command that would do it."""
