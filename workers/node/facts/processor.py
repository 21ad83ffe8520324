"""The CPUs: /proc/cpuinfo and /sys/devices/system/cpu."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from workers.node.facts import files

CPUS = "sys/devices/system/cpu"


@dataclass(frozen=True, kw_only=True, slots=True)
class Processor:
    """What is the same for all CPUs of a node."""

    model: str | None
    """None where /proc/cpuinfo names none (some ARM)."""
    cpus: int
    """Online logical CPUs."""
    microcode: str | None
    sockets: int | None = None
    """None where the kernel does not number them (ARM)."""
    cores: int | None = None
    """Of all sockets together."""
    smt: str | None = None
    """on, off, forceoff, notsupported, notimplemented; None where the kernel has no such switch."""


def parse(text: str) -> Processor:
    """Read /proc/cpuinfo."""
    cpus = [_fields(block) for block in text.split("\n\n")]
    listed = [cpu for cpu in cpus if "processor" in cpu]
    first = listed[0] if listed else {}
    sockets = {cpu["physical id"] for cpu in listed if "physical id" in cpu}
    cores = {(cpu["physical id"], cpu["core id"]) for cpu in listed if {"physical id", "core id"} <= cpu.keys()}
    return Processor(
        model=first.get("model name"),
        cpus=len(listed),
        microcode=first.get("microcode"),
        sockets=len(sockets) or None,
        cores=len(cores) or None,
    )


def read(root: Path) -> Processor | None:
    """The processor of the machine whose files are under `root`."""
    text = files.text(root / "proc/cpuinfo")
    return None if text is None else replace(parse(text), smt=files.text(root / CPUS / "smt/control"))


def _fields(block: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in block.splitlines())
    return {key.strip(): value.strip() for key, colon, value in pairs if colon}
