"""A device that a node's operator has dedicated to raw measurements: who uses it, and what is on it (lsblk, wipefs)."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workers.node.facts import device
from workers.node.facts.device import Device

ANSWER_TIMEOUT_S = 10.0
PROGRAMS = f"{os.defpath}:/usr/sbin:/sbin"


@dataclass(frozen=True, kw_only=True, slots=True)
class Dedicated:
    """What stands in the way of discarding all of it. The root helper looks again, with an exclusive claim."""

    name: str
    """The target whose device it is."""
    path: Path
    disk: Device | None = None
    """None: there is no such block device."""
    mounted_at: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    """File systems, partition tables, swap, RAID members, ... by name."""
    parts: tuple[str, ...] = ()
    """Partitions, volumes and the like made of it."""

    @property
    def obstacle(self) -> str | None:
        """Why it must not, or cannot, be discarded; None: nothing is known against it."""
        if self.disk is None:
            return "there is no such block device"
        if self.mounted_at:
            return f"it is mounted at {', '.join(self.mounted_at)}"
        if self.parts:
            return f"it has parts: {', '.join(self.parts)}"
        if self.holds:
            return f"it is not empty: it holds {', '.join(self.holds)}"
        return None if self.disk.can_discard else "it takes no TRIM"


def parse(text: str, dedicated: Dedicated) -> Dedicated:
    """Read `lsblk --json` of one device. Raises ValueError when it is something else."""
    found = json.loads(text)["blockdevices"][0]
    everything = list(_with_parts(found))
    return replace(
        dedicated,
        mounted_at=tuple(part["mountpoint"] for part in everything if part.get("mountpoint")),
        holds=tuple(found[key] for key in ("pttype", "fstype") if found.get(key)),
        parts=tuple(part["path"] for part in everything[1:]),
    )


def read(root: Path, name: str, path: Path) -> Dedicated:
    """The device as it is now."""
    try:
        number = path.stat()
    except OSError:
        return Dedicated(name=name, path=path)
    if not stat.S_ISBLK(number.st_mode):
        return Dedicated(name=name, path=path)
    place = f"{os.major(number.st_rdev)}:{os.minor(number.st_rdev)}"
    empty = Dedicated(name=name, path=path, disk=device.read(root, place))
    try:
        told = parse(_said("lsblk", "--json", "--output=PATH,FSTYPE,PTTYPE,MOUNTPOINT", str(path)), empty)
        signatures = _said("wipefs", "--no-act", "--noheadings", "--output=TYPE", str(path)).split()
    except (OSError, subprocess.TimeoutExpired, ValueError, LookupError):
        return replace(empty, holds=("something that lsblk cannot tell",))
    return replace(told, holds=tuple(dict.fromkeys([*told.holds, *signatures])))


def _said(*argv: str) -> str:
    """wipefs says nothing to those who may not read the device: lsblk then has udev's word."""
    environment = {"PATH": PROGRAMS, "LC_ALL": "C"}
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False, timeout=ANSWER_TIMEOUT_S)
    return done.stdout


def _with_parts(found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield found
    for part in found.get("children", ()):
        yield from _with_parts(part)
