"""CPU frequency scaling: /sys/devices/system/cpu/cpu*/cpufreq, absent in most virtual machines."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workers.node.facts import files


@dataclass(frozen=True, kw_only=True, slots=True)
class Scaling:
    """How one CPU's frequency is governed. All frequencies in kHz, as the kernel gives them."""

    cpu: int
    folder: Path
    driver: str | None
    governor: str | None
    lowest_khz: int | None
    """What the hardware can do."""
    highest_khz: int | None
    available_khz: tuple[int, ...]
    """The steps, where the driver names them; empty for drivers with a range."""
    minimum_khz: int | None
    """What the governor may choose from."""
    maximum_khz: int | None
    current_khz: int | None

    def offers(self, frequency_khz: int) -> bool:
        """Can this CPU be pinned to that frequency?"""
        if self.available_khz:
            return frequency_khz in self.available_khz
        if self.lowest_khz is None or self.highest_khz is None:
            return False
        return self.lowest_khz <= frequency_khz <= self.highest_khz


def read(root: Path) -> tuple[Scaling, ...]:
    """One value a CPU, in order of number; empty where there is no cpufreq."""
    folders = (root / "sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq")
    return tuple(_one(folder) for folder in sorted(folders, key=_cpu))


def _cpu(folder: Path) -> int:
    return int(folder.parent.name.removeprefix("cpu"))


def _one(folder: Path) -> Scaling:
    steps = files.text(folder / "scaling_available_frequencies") or ""
    return Scaling(
        cpu=_cpu(folder),
        folder=folder,
        driver=files.text(folder / "scaling_driver"),
        governor=files.text(folder / "scaling_governor"),
        lowest_khz=files.number(folder / "cpuinfo_min_freq"),
        highest_khz=files.number(folder / "cpuinfo_max_freq"),
        available_khz=tuple(int(step) for step in steps.split()),
        minimum_khz=files.number(folder / "scaling_min_freq"),
        maximum_khz=files.number(folder / "scaling_max_freq"),
        current_khz=files.number(folder / "scaling_cur_freq"),
    )
