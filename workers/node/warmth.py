"""Which modes read what the same invocation has just written, and so measure the page cache as much as the disk."""

from __future__ import annotations

from collections.abc import Mapping

WRITE_BEFORE_READING = frozenset({"iozone", "builtin", "fio"})
"""Engines whose invocation makes the files that it reads."""


def warm_modes(engine: str, options: Mapping[str, object], modes: tuple[str, ...]) -> tuple[str, ...]:
    """Of a run's modes those that find their data in memory; none where the page cache is passed by (O_DIRECT)."""
    if engine not in WRITE_BEFORE_READING or options.get("direct") is True:
        return ()
    return tuple(mode for mode in modes if "read" in mode or mode == "mixed_workload")
