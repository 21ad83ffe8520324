"""Memory: /proc/meminfo."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workers.node.facts import files


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """In kB; None where the kernel does not say."""

    total_kb: int | None
    dirty_kb: int | None
    """Waits to be written."""
    writeback_kb: int | None
    """Is being written."""


def parse(text: str) -> Memory:
    """Read /proc/meminfo."""
    fields = {key: value.split()[0] for key, _, value in (line.partition(":") for line in text.splitlines()) if value}
    return Memory(
        total_kb=_kb(fields, "MemTotal"), dirty_kb=_kb(fields, "Dirty"), writeback_kb=_kb(fields, "Writeback")
    )


def read(root: Path) -> Memory | None:
    """The memory of the machine whose files are under `root`."""
    text = files.text(root / "proc/meminfo")
    return None if text is None else parse(text)


def _kb(fields: dict[str, str], name: str) -> int | None:
    return int(fields[name]) if name in fields else None
