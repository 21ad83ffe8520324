"""Facts: a command or file, a pure parser, a frozen value. `collect` is what an agent tells about its node."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from workers.node.facts import (
    clock,
    device,
    filesystem,
    frequency,
    kernel,
    load,
    memory,
    processor,
    temperature,
    tunable,
)


def collect(target: Path, engines: Mapping[str, str], root: Path = Path("/")) -> dict[str, object]:
    """JSON-able facts of a node by subject, `engines` with their versions; None for what this machine has not."""
    settable = tunable.read(root, target)
    cpu, main_memory = processor.read(root), memory.read(root)
    return {
        "kernel": asdict(kernel.read(root)),
        "machine": platform.machine(),
        "processor": None if cpu is None else asdict(cpu),
        "frequency": _frequency(settable.scalings),
        "turbo": _turbo(settable.turbo),
        "wake_limits_us": sorted({limit.text for limit in settable.wake_limits}) or None,
        "memory_kb": None if main_memory is None else main_memory.total_kb,
        "swap_kb": None if main_memory is None else main_memory.swap_kb,
        "numa_nodes": memory.numa_nodes(root),
        "transparent_huge_pages": memory.transparent_huge_pages(root),
        "target": None if settable.mount is None else _target(settable.mount, target),
        "device": None if settable.device is None else _device(settable.device),
        "clock": None if (told := clock.read()) is None else asdict(told),
        "temperatures_c": _temperatures(temperature.read(root)),
        "load": load.average(root),
        "top_processes": [f"{found.name} {found.cpu_s:.0f} s" for found in load.top(root)],
        "benchmarks": dict(engines),
    }


def _frequency(scalings: tuple[frequency.Scaling, ...]) -> dict[str, object] | None:
    """The first CPU's; whether the others agree."""
    if not scalings:
        return None
    first = scalings[0]
    described = {(one.governor, one.lowest_khz, one.highest_khz, one.energy_preference) for one in scalings}
    return {
        "driver": first.driver,
        "governor": first.governor,
        "lowest_khz": first.lowest_khz,
        "highest_khz": first.highest_khz,
        "base_khz": first.base_khz,
        "available_khz": list(first.available_khz),
        "energy_preference": first.energy_preference,
        "same_on_all_cpus": len(described) == 1,
    }


def _turbo(switches: tuple[frequency.Turbo, ...]) -> str | None:
    states = {switch.on for switch in switches} - {None}
    if not states:
        return None
    return "differs" if len(states) == 2 else "on" if True in states else "off"


def _target(mount: filesystem.Mount, target: Path) -> dict[str, object]:
    return {
        "file_system": mount.kind,
        "options": list(mount.options),
        "in_memory": mount.in_memory,
        "free_kb": filesystem.free_kb(target),
    }


def _device(found: device.Device) -> dict[str, object]:
    worn = device.wear(found)
    return {
        "name": found.name,
        "model": found.model,
        "firmware": found.firmware,
        "rotational": found.rotational,
        "scheduler": found.scheduler,
        "discard": found.can_discard,
        "size_bytes": found.size_bytes,
        "wear": None if worn is None else asdict(worn),
    }


def _temperatures(sensors: tuple[temperature.Sensor, ...]) -> dict[str, float] | None:
    """The hottest place of each chip."""
    hottest: dict[str, float] = {}
    for sensor in sensors:
        hottest[sensor.chip] = max(sensor.celsius, hottest.get(sensor.chip, sensor.celsius))
    return hottest or None
