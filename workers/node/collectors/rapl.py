"""Energy of the CPUs from powercap (/sys/class/powercap), in joules; for root only on most kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from workers.node.facts import files


@dataclass(frozen=True, kw_only=True, slots=True)
class Zone:
    """One counter; it starts again at 0 when it has reached its range."""

    name: str
    """package-0, dram, ...; with its place where several have one name."""
    folder: Path
    range_uj: int


def zones(root: Path) -> tuple[Zone, ...]:
    """Every zone that can be read."""
    return tuple(_zones(root / "sys/class/powercap"))


def joules(before_uj: int, after_uj: int, range_uj: int) -> float:
    """Energy between two readings, at most one turn of the counter apart."""
    passed = after_uj - before_uj
    return (passed if passed >= 0 else passed + range_uj) / 1e6


class Rapl:
    """Joules by zone."""

    def __init__(self, root: Path) -> None:
        self._zones = zones(root)
        self._before: dict[str, int] = {}

    def begin(self) -> None:
        self._before = self._now()

    def end(self) -> Mapping[str, float]:
        after, ranges = self._now(), {zone.name: zone.range_uj for zone in self._zones}
        return {
            f"{name}_j": joules(self._before[name], now_uj, ranges[name])
            for name, now_uj in after.items()
            if name in self._before
        }

    def close(self) -> None:
        pass

    def _now(self) -> dict[str, int]:
        read = ((zone.name, files.number(zone.folder / "energy_uj")) for zone in self._zones)
        return {name: energy_uj for name, energy_uj in read if energy_uj is not None}


def _zones(folder: Path) -> Iterator[Zone]:
    seen: set[str] = set()
    for place in sorted(folder.glob("intel-rapl:*")):
        name, range_uj = files.text(place / "name"), files.number(place / "max_energy_range_uj")
        if name is None or range_uj is None or files.number(place / "energy_uj") is None:
            continue
        unique = name if name not in seen else f"{name}@{place.name.removeprefix('intel-rapl:')}"
        seen.add(unique)
        yield Zone(name=unique, folder=place, range_uj=range_uj)
