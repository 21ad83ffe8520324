"""How used an SSD is when a run begins: bytes written to it, and runs made, since its last TRIM by this agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workers.node.counters import parse_sectors
from workers.node.facts import files
from workers.node.facts.device import SECTOR_BYTES, Device


@dataclass(kw_only=True, slots=True)
class _Use:
    sectors: int
    runs: int = 0


_since: dict[str, _Use] = {}
"""By device; from one job to the next, as long as this agent lives."""


def note_trim(device: Device | None) -> None:
    """The device was trimmed just now."""
    if device is not None and (sectors := _written(device)) is not None:
        _since[device.name] = _Use(sectors=sectors)


class SinceTrim:
    """Nothing is told before the first TRIM: nobody knows what came before."""

    def __init__(self, device: Device | None) -> None:
        self._device = device
        self._told: dict[str, float] = {}

    def begin(self) -> None:
        use = None if self._device is None else _since.get(self._device.name)
        written = None if self._device is None else _written(self._device)
        if use is None or written is None:
            self._told = {}
            return
        self._told = {"bytes_since_trim": (written - use.sectors) * SECTOR_BYTES, "runs_since_trim": use.runs}
        use.runs += 1

    def end(self) -> Mapping[str, float]:
        return self._told

    def close(self) -> None:
        pass


def _written(device: Device) -> int | None:
    text = files.text(device.folder / "stat")
    return parse_sectors(text)[1] if text else None
