"""Which file system a folder is on: /proc/self/mountinfo."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from workers.node.facts import files

IN_MEMORY = frozenset({"tmpfs", "ramfs"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Mount:
    """One mounted file system."""

    point: Path
    kind: str
    """ext4, xfs, tmpfs, ..."""
    source: str
    options: tuple[str, ...]
    device: str
    """Major and minor number, as in /sys/dev/block."""

    @property
    def in_memory(self) -> bool:
        """Is what is written there never on a disk?"""
        return self.kind in IN_MEMORY


def parse(text: str) -> tuple[Mount, ...]:
    """Read mountinfo (proc(5)): a variable number of fields, ended by a hyphen, stands before the last three."""
    return tuple(_line(line) for line in text.splitlines() if " - " in line)


def of(path: Path, mounts: Iterable[Mount]) -> Mount | None:
    """The mount that holds a path: of all above it the deepest, of those the latest."""
    above = [mount for mount in mounts if path.is_relative_to(mount.point)]
    return max(reversed(above), key=lambda mount: len(mount.point.parts), default=None)


def read(root: Path, path: Path) -> Mount | None:
    """The mount that holds `path` on the machine whose files are under `root`."""
    text = files.text(root / "proc/self/mountinfo")
    return None if text is None else of(path.resolve(), parse(text))


def free_kb(path: Path) -> int | None:
    """Space for those who are not root; None when the folder cannot be asked."""
    try:
        found = os.statvfs(path)
    except OSError:
        return None
    return found.f_bavail * found.f_frsize // 1024


def _line(line: str) -> Mount:
    before, _, after = line.partition(" - ")
    fields, (kind, source, *_) = before.split(" "), after.split(" ")
    return Mount(
        point=Path(_unescaped(fields[4])),
        kind=kind,
        source=_unescaped(source),
        options=tuple(fields[5].split(",")),
        device=fields[2],
    )


def _unescaped(field: str) -> str:
    """Blanks, tabs, newlines and backslashes are written as octal numbers."""
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), field)
