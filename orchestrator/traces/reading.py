"""Which reader a file is for."""

from __future__ import annotations

from pathlib import Path

from orchestrator.traces.imported import Imported

SUFFIXES = (".meta", ".bin", ".txt", ".otf2")


def is_trace(path: Path) -> bool:
    """By its name."""
    return path.suffix in SUFFIXES


def is_log(path: Path) -> bool:
    """Whether only totals of each rank are known: a Darshan log."""
    return path.suffix == ".darshan"


def read(path: Path) -> Imported:
    """Raises TableError for a file that cannot be read, UserError where an extra is missing."""
    if path.suffix == ".otf2":
        from orchestrator.traces import otf2_events

        return otf2_events.read(path)
    from orchestrator.traces import dumpi

    return dumpi.read(path)
