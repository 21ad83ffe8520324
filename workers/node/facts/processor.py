"""The CPUs: /proc/cpuinfo."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workers.node.facts import files


@dataclass(frozen=True, kw_only=True, slots=True)
class Processor:
    """What is the same for all CPUs of a node."""

    model: str | None
    """None where /proc/cpuinfo names none (some ARM)."""
    cpus: int
    """Online logical CPUs."""
    microcode: str | None


def parse(text: str) -> Processor:
    """Read /proc/cpuinfo."""
    pairs = [(key.strip(), value.strip()) for key, _, value in (line.partition(":") for line in text.splitlines())]
    first = dict(reversed(pairs))  # of several CPUs the first
    return Processor(
        model=first.get("model name"),
        cpus=sum(key == "processor" for key, _ in pairs),
        microcode=first.get("microcode"),
    )


def read(root: Path) -> Processor | None:
    """The processor of the machine whose files are under `root`."""
    text = files.text(root / "proc/cpuinfo")
    return None if text is None else parse(text)
