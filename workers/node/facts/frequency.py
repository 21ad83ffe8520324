"""CPU frequency scaling: /sys/devices/system/cpu/cpu*/cpufreq, absent in most virtual machines."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workers.node.facts import files
from workers.node.facts.processor import CPUS

ENERGY_PREFERENCE = "energy_performance_preference"
"""Of intel_pstate and amd-pstate-epp."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scaling:
    """How one CPU's frequency is governed. All frequencies in kHz, as the kernel gives them."""

    cpu: int
    folder: Path
    driver: str | None
    """intel_pstate, amd-pstate-epp, acpi-cpufreq, cppc_cpufreq, ..."""
    governor: str | None
    governors: tuple[str, ...]
    lowest_khz: int | None
    """What the hardware can do."""
    highest_khz: int | None
    base_khz: int | None
    """Without turbo, where the driver says."""
    available_khz: tuple[int, ...]
    """The steps, where the driver names them; empty for drivers with a range."""
    minimum_khz: int | None
    """What the governor may choose from."""
    maximum_khz: int | None
    energy_preference: str | None

    def offers(self, frequency_khz: int) -> bool:
        """Can this CPU be pinned to that frequency?"""
        if self.available_khz:
            return frequency_khz in self.available_khz
        if self.lowest_khz is None or self.highest_khz is None:
            return False
        return self.lowest_khz <= frequency_khz <= self.highest_khz


@dataclass(frozen=True, kw_only=True, slots=True)
class Turbo:
    """One switch for frequencies above the base; drivers differ in its file and its sense."""

    path: Path
    on_is: str
    """What the file holds when turbo is allowed: `1` in cpufreq/boost, `0` in intel_pstate/no_turbo."""
    on: bool | None
    """None: the file holds neither 0 nor 1, or is not for us to read."""

    def text(self, wanted_on: bool) -> str:
        """What the file holds when turbo is as wanted."""
        return self.on_is if wanted_on else str(1 - int(self.on_is))


def read(root: Path) -> tuple[Scaling, ...]:
    """One value a CPU, in order of number; empty where there is no cpufreq."""
    folders = (root / CPUS).glob("cpu[0-9]*/cpufreq")
    return tuple(_one(folder) for folder in sorted(folders, key=_cpu))


def listed(scalings: tuple[Scaling, ...], cpus: str) -> tuple[Scaling, ...]:
    """Those that a study means: `all`, or a list as `0-3,8`."""
    if cpus == "all":
        return scalings
    numbers = set(files.numbers(cpus))
    return tuple(scaling for scaling in scalings if scaling.cpu in numbers)


def read_turbo(root: Path) -> tuple[Turbo, ...]:
    """intel_pstate has one switch, acpi-cpufreq and cppc_cpufreq one for all CPUs, amd_pstate one for each."""
    cpus = root / CPUS
    if (inverted := _turbo(cpus / "intel_pstate/no_turbo", on_is="0")) is not None:
        return (inverted,)
    if (one := _turbo(cpus / "cpufreq/boost", on_is="1")) is not None:
        return (one,)
    each = (_turbo(folder / "boost", on_is="1") for folder in sorted(cpus.glob("cpu[0-9]*/cpufreq"), key=_cpu))
    return tuple(found for found in each if found is not None)


def current_khz(scaling: Scaling) -> int | None:
    """What the hardware reports now, where it may be read; else what the driver says."""
    measured = files.number(scaling.folder / "cpuinfo_cur_freq")
    return measured if measured is not None else files.number(scaling.folder / "scaling_cur_freq")


def _turbo(path: Path, *, on_is: str) -> Turbo | None:
    if not path.exists():
        return None
    held = files.text(path)
    return Turbo(path=path, on_is=on_is, on=held == on_is if held in ("0", "1") else None)


def _cpu(folder: Path) -> int:
    return int(folder.parent.name.removeprefix("cpu"))


def _one(folder: Path) -> Scaling:
    return Scaling(
        cpu=_cpu(folder),
        folder=folder,
        driver=files.text(folder / "scaling_driver"),
        governor=files.text(folder / "scaling_governor"),
        governors=files.words(folder / "scaling_available_governors"),
        lowest_khz=files.number(folder / "cpuinfo_min_freq"),
        highest_khz=files.number(folder / "cpuinfo_max_freq"),
        base_khz=files.number(folder / "base_frequency"),
        available_khz=tuple(int(step) for step in files.words(folder / "scaling_available_frequencies")),
        minimum_khz=files.number(folder / "scaling_min_freq"),
        maximum_khz=files.number(folder / "scaling_max_freq"),
        energy_preference=files.text(folder / ENERGY_PREFERENCE),
    )
