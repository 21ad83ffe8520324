"""Temperatures: /sys/class/hwmon and /sys/class/thermal; most virtual machines have neither."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workers.node.facts import files

CPU_CHIPS = frozenset({"coretemp", "k10temp", "zenpower", "cpu_thermal", "apm_xgene"})
CPU_ZONES = frozenset({"x86_pkg_temp", "cpu-thermal", "cpu_thermal", "acpitz"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Sensor:
    """One place whose temperature the kernel reads."""

    chip: str
    """coretemp, k10temp, nvme, drivetemp, x86_pkg_temp, ..."""
    label: str | None
    celsius: float


def read(root: Path) -> tuple[Sensor, ...]:
    """All that can be read; a sensor that is asleep, or faulty, is left out."""
    return (*_hwmon(root), *_zones(root))


def of_cpu(sensors: tuple[Sensor, ...]) -> float | None:
    """The hottest place of the CPUs; None where nobody says."""
    return max((sensor.celsius for sensor in sensors if sensor.chip in CPU_CHIPS | CPU_ZONES), default=None)


def _hwmon(root: Path) -> Iterator[Sensor]:
    for value in sorted((root / "sys/class/hwmon").glob("hwmon*/temp*_input")):
        millidegrees = files.number(value)
        if millidegrees is not None:
            yield Sensor(
                chip=files.text(value.parent / "name") or "unknown",
                label=files.text(value.with_name(value.name.replace("_input", "_label"))),
                celsius=millidegrees / 1000,
            )


def _zones(root: Path) -> Iterator[Sensor]:
    for zone in sorted((root / "sys/class/thermal").glob("thermal_zone*")):
        millidegrees = files.number(zone / "temp")
        if millidegrees is not None:
            yield Sensor(chip=files.text(zone / "type") or "unknown", label=None, celsius=millidegrees / 1000)
