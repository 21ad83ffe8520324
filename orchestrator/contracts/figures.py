"""The whole service in numbers, for monitoring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

REASONS_TOLD = 50
"""The most frequent reasons of invalid runs; the others are counted together."""
OTHER = "other"


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeFigures:
    """A node."""

    name: str
    state: str
    online: bool
    spool_runs: int
    """That had waited in its spool when its agent last reported."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Figures:
    """Counts over all campaigns in the ledger."""

    campaigns: Mapping[str, int]
    """State -> number."""
    jobs: Mapping[str, int]
    runs: Mapping[tuple[str, str], int]
    """(node, validity) -> number."""
    invalid: Mapping[tuple[str, str], int]
    """(node, reason) -> number of invalid runs."""
    failures: Mapping[str, int]
    """Kind -> failed attempts."""
    lease_expiries: int
    analyses: Mapping[str, int]
    """State -> number."""
    fits: int
    """Those whose duration is known."""
    fit_s: float
    """Their durations together."""
    nodes: tuple[NodeFigures, ...]
    unwatched_s: float
    """Since a controller last reconciled."""
