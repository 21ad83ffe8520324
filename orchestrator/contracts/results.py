"""What a benchmark printed, read back: the readers are found by entry point (`modescope.result_readers`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from orchestrator.contracts.designs import Level

READERS = "modescope.result_readers"
"""The entry points' group; each is named after the benchmark and is a `Reader`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """One invocation, or one row of a table that an invocation prints."""

    levels: Mapping[str, Level]
    """Factor -> level, of the factors that the text itself tells."""
    values: Mapping[str, float]
    """Mode -> throughput in kB/s."""
    started_at: float | None = None
    """Seconds since the epoch, where the text tells it."""
    elapsed_s: float | None = None


Reader = Callable[[str], Sequence[Result]]
"""Raises OutputError for a text that it cannot read."""
