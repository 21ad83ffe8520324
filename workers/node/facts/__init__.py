"""Facts: a file, a pure parser, a frozen value. `collect` is what an agent tells about its node when it reports."""

from __future__ import annotations

import platform
from dataclasses import asdict
from pathlib import Path

from workers.benchmarks.engines import Bench
from workers.node.facts import filesystem, frequency, memory, processor


def collect(bench: Bench, root: Path = Path("/")) -> dict[str, object]:
    """JSON-able facts, by subject; None for a subject this machine does not have."""
    cpu = processor.read(root)
    main_memory = memory.read(root)
    mount = filesystem.read(root, bench.target.path)
    return {
        "kernel": platform.release(),
        "machine": platform.machine(),
        "processor": None if cpu is None else asdict(cpu),
        "memory_kb": None if main_memory is None else main_memory.total_kb,
        "frequency": _frequency(frequency.read(root)),
        "target": None if mount is None else _target(mount),
    }


def _frequency(scalings: tuple[frequency.Scaling, ...]) -> dict[str, object] | None:
    """The first CPU's; whether the others agree."""
    if not scalings:
        return None
    first = scalings[0]
    described = [(scaling.governor, scaling.lowest_khz, scaling.highest_khz) for scaling in scalings]
    return {
        "driver": first.driver,
        "governor": first.governor,
        "lowest_khz": first.lowest_khz,
        "highest_khz": first.highest_khz,
        "same_on_all_cpus": len(set(described)) == 1,
    }


def _target(mount: filesystem.Mount) -> dict[str, object]:
    return {"file_system": mount.kind, "options": list(mount.options), "in_memory": mount.in_memory}
