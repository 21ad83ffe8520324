"""What /proc says about processes: who is who, and who belongs to a session."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# Fields of /proc/PID/stat counted from after the command's name, which may hold blanks: proc_pid_stat(5).
STATE, SESSION, START_TICKS = 0, 3, 19


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """One process, told apart from any later one with the same number."""

    pid: int
    started_ticks: int
    """Clock ticks since boot."""
    boot_id: str

    def alive(self) -> bool:
        """Is this very process still there? A zombie is not."""
        return self.boot_id == boot_id() and started_ticks(self.pid) == self.started_ticks


def identify(pid: int) -> Identity | None:
    """None when there is no such process."""
    ticks = started_ticks(pid)
    return None if ticks is None else Identity(pid=pid, started_ticks=ticks, boot_id=boot_id())


def boot_id() -> str:
    """A UUID that is new with every boot of the kernel."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def started_ticks(pid: int) -> int | None:
    """When it started, in clock ticks since boot; None when it is gone or a zombie."""
    fields = _stat(pid)
    return None if fields is None or fields[STATE] == "Z" else int(fields[START_TICKS])


def kill_session(leader: int) -> None:
    """SIGKILL for every process of the session, so that nothing survives its leader."""
    for pid in list(_session_members(leader)):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _session_members(leader: int) -> Iterator[int]:
    for pid in all_pids():
        fields = _stat(pid)
        if fields is not None and int(fields[SESSION]) == leader and fields[STATE] != "Z":
            yield pid


def all_pids() -> Iterator[int]:
    """Every process there is."""
    return (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal())


def _stat(pid: int) -> list[str] | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    return text[text.rindex(")") + 2 :].split()
