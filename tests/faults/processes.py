"""Whole trees of processes: who descends from whom, stopped and continued together."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from orchestrator.embedded.processes import all_pids


def parent(pid: int) -> int | None:
    """None when it is gone, or a zombie."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, above = text[text.rindex(")") + 2 :].split()[:2]
    return None if state == "Z" else int(above)


def descendants(pid: int) -> list[int]:
    """Everything that lives below a process; PostgreSQL's backends lead sessions of their own."""
    above = {each: parent(each) for each in all_pids()}
    found, level = [], [pid]
    while level:
        level = [each for each, its_parent in above.items() if its_parent in level]
        found += level
    return found


def tell(pids: list[int], number: signal.Signals) -> None:
    """A signal for each that still lives."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def belonging_to(mark: str, folder: Path) -> Iterator[int]:
    """Living processes that carry our mark in their environment, or our folder on their command line."""
    for pid in all_pids():
        with suppress(FileNotFoundError, ProcessLookupError, PermissionError):
            environment = Path(f"/proc/{pid}/environ").read_bytes()
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
            if parent(pid) is not None and (mark.encode() in environment or f"{folder}/".encode() in words):
                yield pid
