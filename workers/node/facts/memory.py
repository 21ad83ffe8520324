"""Memory: /proc/meminfo, /sys/devices/system/node, /sys/kernel/mm."""

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
    swap_kb: int | None = None
    swap_free_kb: int | None = None
    cached_kb: int | None = None
    """Pages of files, shared memory and tmpfs among them."""
    buffers_kb: int | None = None
    """Pages of block devices."""
    shared_kb: int | None = None
    mapped_kb: int | None = None
    """Into processes; a drop leaves these."""

    @property
    def droppable_kb(self) -> int | None:
        """What a drop of the page cache would take, about: mapped shared memory is subtracted twice."""
        if None in (self.cached_kb, self.buffers_kb, self.shared_kb, self.mapped_kb):
            return None
        found = (self.cached_kb or 0) + (self.buffers_kb or 0) - (self.shared_kb or 0) - (self.mapped_kb or 0)
        return max(0, found)

    @property
    def unwritten_kb(self) -> int | None:
        """What the kernel still has to write: dirty and being written."""
        return None if self.dirty_kb is None or self.writeback_kb is None else self.dirty_kb + self.writeback_kb


def parse(text: str) -> Memory:
    """Read /proc/meminfo."""
    fields = {key: value.split()[0] for key, _, value in (line.partition(":") for line in text.splitlines()) if value}
    return Memory(
        total_kb=_kb(fields, "MemTotal"),
        dirty_kb=_kb(fields, "Dirty"),
        writeback_kb=_kb(fields, "Writeback"),
        swap_kb=_kb(fields, "SwapTotal"),
        swap_free_kb=_kb(fields, "SwapFree"),
        cached_kb=_kb(fields, "Cached"),
        buffers_kb=_kb(fields, "Buffers"),
        shared_kb=_kb(fields, "Shmem"),
        mapped_kb=_kb(fields, "Mapped"),
    )


def read(root: Path) -> Memory | None:
    """The memory of the machine whose files are under `root`."""
    text = files.text(root / "proc/meminfo")
    return None if text is None else parse(text)


def numa_nodes(root: Path) -> int | None:
    """How many parts the memory has; None where the kernel knows of none."""
    listed = files.text(root / "sys/devices/system/node/online")
    return len(files.numbers(listed)) if listed else None


def transparent_huge_pages(root: Path) -> str | None:
    """always, madvise or never."""
    return files.chosen(files.text(root / "sys/kernel/mm/transparent_hugepage/enabled"))


def _kb(fields: dict[str, str], name: str) -> int | None:
    return int(fields[name]) if name in fields else None
