"""Which children a service has, on disk: what a SIGKILLed supervisor leaves is found and ended by the next start."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from orchestrator.embedded import processes
from orchestrator.embedded.children import Child, Role
from orchestrator.embedded.files import write_private

MARK = "MODESCOPE_SERVICE"
"""Every descendant inherits this variable, which names the service's life: strays in other sessions are found by it."""
GRACE_S = 5.0
POSTGRES_GRACE_S = 30.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A child as the journal knows it."""

    role: Role
    stop_signal: int
    process: processes.Identity


def write(path: Path, service: str, children: Iterable[Child]) -> None:
    """Replace the journal by the children of now."""
    entries = [
        asdict(Entry(role=child.part.role, stop_signal=child.part.stop_signal, process=identity))
        for child in children
        if (identity := processes.identify(child.pid)) is not None
    ]
    write_private(path, json.dumps({"service": service, "children": entries}))


def end_leftovers(path: Path) -> int:
    """End what an earlier service left running, in the order in which parts stop; how many children that were."""
    if not path.exists():
        return 0
    service, entries = _read(path)
    left = [entry for entry in entries if entry.process.alive()]
    for role in Role:
        _end([entry for entry in left if entry.role is role])
    for pid in _marked(service):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    path.unlink()
    return len(left)


def _read(path: Path) -> tuple[str, list[Entry]]:
    found = json.loads(path.read_text(encoding="utf-8"))
    entries = [
        Entry(
            role=Role(entry["role"]),
            stop_signal=entry["stop_signal"],
            process=processes.Identity(**entry["process"]),
        )
        for entry in found["children"]
    ]
    return found["service"], entries


def _end(entries: list[Entry]) -> None:
    for entry in entries:
        with suppress(ProcessLookupError):
            os.kill(entry.process.pid, entry.stop_signal)
    asked = time.monotonic()
    for entry in entries:
        grace_s = POSTGRES_GRACE_S if entry.role is Role.POSTGRES else GRACE_S
        while entry.process.alive() and time.monotonic() < asked + grace_s:
            time.sleep(0.02)
        if entry.process.alive():
            processes.kill_session(entry.process.pid)


def _marked(service: str) -> list[int]:
    mark = f"{MARK}={service}".encode()
    return [pid for pid in processes.all_pids() if pid != os.getpid() and mark in _environment(pid)]


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except (PermissionError, FileNotFoundError, ProcessLookupError):
        return []
