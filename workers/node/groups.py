"""Process groups as /proc shows them: who is alive in one, and how to end all of it."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
MARK = "MODESCOPE_RUN"
"""The environment variable that a run's processes carry: proof that a group without its leader is still that run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Process:
    """One line of /proc/PID/stat, as far as it matters here."""

    pid: int
    state: str
    group: int
    start_time: int
    """In clock ticks since boot: with the pid it names one process of this boot."""


def parse_stat(text: str) -> Process:
    """Read /proc/PID/stat; the name in parentheses may hold blanks and parentheses itself."""
    pid, _, rest = text.partition(" (")
    fields = rest[rest.rindex(")") + 2 :].split()
    return Process(pid=int(pid), state=fields[0], group=int(fields[2]), start_time=int(fields[19]))


def process(pid: int) -> Process | None:
    """The process as it is now; None when there is none."""
    try:
        return parse_stat((PROC / str(pid) / "stat").read_text())
    except (FileNotFoundError, ProcessLookupError):
        return None


def boot_id() -> str:
    """Differs after every boot, so that no pid of an earlier one is taken for one of this."""
    return (PROC / "sys/kernel/random/boot_id").read_text().strip()


def living_members(group: int) -> list[Process]:
    """Processes of a group that can still do something: a zombie nobody reaped does not count."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return []
    except PermissionError:  # it is there, and belongs to somebody else
        pass
    everyone = (process(int(entry.name)) for entry in PROC.iterdir() if entry.name.isdigit())
    return [found for found in everyone if found is not None and found.group == group and found.state not in "ZX"]


def carries(pid: int, mark: str) -> bool:
    """Was this process started with `MARK=mark` in its environment?"""
    try:
        environment = (PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return False
    return f"{MARK}={mark}".encode() in environment.split(b"\0")


def kill(group: int, *, wait_s: float = 5.0) -> bool:
    """SIGKILL all of a group and wait until nothing of it is alive; False when something is left after `wait_s`."""
    deadline = time.monotonic() + wait_s
    while living_members(group):
        if time.monotonic() > deadline:
            return False
        os.killpg(group, signal.SIGKILL)
        time.sleep(0.002)
    return True
