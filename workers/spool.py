"""Runs on their way to the ledger: an append-only file of JSON lines in the node's state folder.

The first line names the ledger (DESIGN 5); every other line is a run. A line torn by a crash is dropped: its run was
never reported as made, and is measured again.
"""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from uuid import UUID

from orchestrator.contracts.errors import JobFailure
from orchestrator.contracts.jobs import FailureKind
from orchestrator.contracts.runs import Run

SHORTEST_WINDOW_S = 0.05
LONGEST_WINDOW_S = 2.0
"""Runs within a window share an fsync: what a crash of the machine can cost (a crash of the agent costs nothing)."""
SYNC_SHARE = 1 / 400
"""Of the time, for fsync: it commits the file system's journal, with all that the benchmark made and deleted in it. The
window follows from what the last one took (docs/decisions/0007)."""

_encode = json.JSONEncoder(separators=(",", ":")).encode


class Spool:
    """What this node measured for one ledger and the ledger has not confirmed yet. One process at a time."""

    def __init__(self, folder: Path, ledger: UUID) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / "spool.jsonl"
        self._ledger = ledger
        self.kept_aside = self._keep_foreign_aside()
        """Where a spool of another ledger was moved to, for the agent to report; None when there was none."""
        self._waiting = {run.id: run for run in _runs(self._path)}
        self._rewrite()
        self._synced_at = time.monotonic()
        self._window_s = SHORTEST_WINDOW_S

    def append(self, run: Run) -> None:
        """Keep a run. Raises JobFailure (node) when the disk does not take it; the run is then not in the spool."""
        end = self._file.tell()
        try:
            self._write_all(_line(run.as_dict()))
            if time.monotonic() - self._synced_at >= self._window_s:
                self.sync()
        except OSError as problem:
            self._file.truncate(end)
            self._file.seek(end)
            raise JobFailure(
                FailureKind.NODE, f"{self._path}: cannot keep a run: {problem.strerror}; make room on this disk"
            ) from problem
        self._waiting[run.id] = run

    def sync(self) -> None:
        """Make everything appended so far outlive a power loss."""
        begin = time.monotonic()
        os.fsync(self._file.fileno())
        self._synced_at = time.monotonic()
        took_s = self._synced_at - begin
        self._window_s = min(max(took_s / SYNC_SHARE, SHORTEST_WINDOW_S), LONGEST_WINDOW_S)

    def pending(self) -> list[Run]:
        """Every run not yet acknowledged, in the order in which they were made."""
        return list(self._waiting.values())

    def acknowledge(self, ids: Collection[UUID]) -> None:
        """The ledger has these; the file shrinks to nothing as soon as it has all."""
        for run_id in ids:
            self._waiting.pop(run_id, None)
        if not self._waiting:
            self._file.truncate(self._header_bytes)
            self._file.seek(self._header_bytes)

    def close(self) -> None:
        """Sync, and give the file back."""
        self.sync()
        self._file.close()

    def _write_all(self, line: bytes) -> None:
        if self._file.write(line) != len(line):  # a nearly full disk takes a part, and says so only by the count
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _keep_foreign_aside(self) -> Path | None:
        found = _ledger(self._path)
        if found == str(self._ledger) or not any(True for _ in _runs(self._path)):
            return None
        aside = self._path.with_name(f"spool-{found}-{time.time_ns()}.jsonl")
        self._path.rename(aside)
        return aside

    def _rewrite(self) -> None:
        """Start a fresh file with what is pending; the old one stays until the new one is on the disk."""
        fresh = self._path.with_suffix(".new")
        header = _line({"ledger": str(self._ledger)})
        self._header_bytes = len(header)
        self._file = fresh.open("wb", buffering=0)
        self._file.write(header + b"".join(_line(run.as_dict()) for run in self._waiting.values()))
        os.fsync(self._file.fileno())
        fresh.replace(self._path)


def _line(record: object) -> bytes:
    return _encode(record).encode() + b"\n"


def _lines(path: Path) -> Iterator[dict[str, object]]:
    """Whole lines only: without its newline, or unreadable, a line was torn."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            try:
                record = json.loads(line) if line.endswith(b"\n") else None
            except ValueError:
                continue
            if isinstance(record, dict):
                yield record


def _ledger(path: Path) -> str | None:
    first = next(_lines(path), {})
    return str(first["ledger"]) if "ledger" in first else None


def _runs(path: Path) -> Iterator[Run]:
    return (Run.from_dict(record) for record in _lines(path) if "ledger" not in record)
