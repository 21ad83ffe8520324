"""What else runs on a node: the load average, and the processes that used most CPU time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workers.node.facts import files

KERNEL_SESSION = 0
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, kw_only=True, slots=True)
class Consumer:
    """A process and the CPU time it has used since it began, its dead children's left out."""

    pid: int
    name: str
    cpu_s: float
    session: int


def parse_stat(text: str) -> Consumer:
    """Read /proc/PID/stat; the name in parentheses may hold blanks and parentheses itself."""
    pid, _, rest = text.partition(" (")
    name, _, after = rest.rpartition(") ")
    fields = after.split()
    return Consumer(
        pid=int(pid), name=name, session=int(fields[3]), cpu_s=(int(fields[11]) + int(fields[12])) / TICKS_PER_S
    )


def average(root: Path) -> tuple[float, ...] | None:
    """The load over 1, 5 and 15 minutes."""
    text = files.text(root / "proc/loadavg")
    return None if text is None else tuple(float(word) for word in text.split()[:3])


def top(root: Path, *, count: int = 5) -> tuple[Consumer, ...]:
    """The foreign processes with most CPU time: kernel threads and our own session are left out."""
    ours = {KERNEL_SESSION, os.getsid(0)}
    foreign = (found for found in _all(root) if found.session not in ours and found.cpu_s > 0)
    return tuple(sorted(foreign, key=lambda found: (-found.cpu_s, found.pid))[:count])


def _all(root: Path) -> Iterator[Consumer]:
    for entry in (root / "proc").glob("[0-9]*/stat"):
        text = files.text(entry)
        if text:  # it may have ended meanwhile
            yield parse_stat(text)
