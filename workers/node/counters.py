"""Counters of the kernel that are read before and after a run: what the machine did, and what of it was ours."""

from __future__ import annotations

import os
import resource
from dataclasses import dataclass
from pathlib import Path

from workers.node.facts import files
from workers.node.facts.device import SECTOR_BYTES, Device
from workers.node.facts.load import TICKS_PER_S

IO_RESOLUTION_KB = 1024
"""A file system's own metadata are nobody's; less than this is not called foreign."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Counters:
    """At one moment; None where the machine does not count."""

    user_s: float | None
    """Of all CPUs in programs; the kernel's own work, which benchmarks cause, is left out."""
    own_user_s: float
    """Of this process and the children it has waited for."""
    device_kb: float | None
    """Read and written on the target's device."""
    own_kb: float | None


def parse_user_s(text: str) -> float | None:
    """User and nice time in the first line of /proc/stat."""
    words = text.split(maxsplit=4)
    return (int(words[1]) + int(words[2])) / TICKS_PER_S if words[:1] == ["cpu"] else None


def parse_io_kb(text: str) -> float:
    """What /proc/PID/io says has gone to, or come from, a disk."""
    fields = dict(line.split(": ") for line in text.splitlines())
    return (int(fields["read_bytes"]) + int(fields["write_bytes"])) / 1024


def parse_sectors(text: str) -> tuple[int, int]:
    """Sectors read and written, of /sys/block/*/stat (Documentation/block/stat.rst)."""
    words = text.split()
    return int(words[2]), int(words[6])


def read(root: Path, device: Device | None) -> Counters:
    """Of the machine whose files are under `root`."""
    stat, own = files.text(root / "proc/stat"), files.text(root / "proc/self/io")
    sectors = None if device is None else files.text(device.folder / "stat")
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return Counters(
        user_s=None if stat is None else parse_user_s(stat),
        own_user_s=sum(used.ru_utime for used in usage),
        device_kb=None if not sectors else sum(parse_sectors(sectors)) * SECTOR_BYTES / 1024,
        own_kb=None if not own else parse_io_kb(own),
    )


def foreign_cpus(before: Counters, after: Counters, elapsed_s: float, *, cpus: int | None = None) -> float | None:
    """CPUs that others kept busy, on average; two clock ticks a CPU are beyond what the kernel resolves."""
    if before.user_s is None or after.user_s is None or elapsed_s <= 0:
        return None
    resolution_s = 2 / TICKS_PER_S * (cpus or os.cpu_count() or 1)
    foreign_s = (after.user_s - before.user_s) - (after.own_user_s - before.own_user_s) - resolution_s
    return round(max(0.0, foreign_s) / elapsed_s, 3)


def foreign_kbps(before: Counters, after: Counters, elapsed_s: float) -> float | None:
    """What others moved on the target's device, on average."""
    if before.device_kb is None or after.device_kb is None or before.own_kb is None or after.own_kb is None:
        return None
    if elapsed_s <= 0:
        return None
    foreign_kb = (after.device_kb - before.device_kb) - (after.own_kb - before.own_kb) - IO_RESOLUTION_KB
    return round(max(0.0, foreign_kb) / elapsed_s, 1)
