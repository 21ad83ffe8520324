"""How used an SSD is when a run begins: bytes written to it, and runs made, since its last TRIM by this agent."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from workers.node import groups
from workers.node.counters import parse_sectors
from workers.node.facts import files
from workers.node.facts.device import SECTOR_BYTES, Device

RUN = b"."


class Use:
    """One file a device in the node's state folder: a line about its TRIM, then a byte for every run since.

    It outlives the agent, for what a run costs is one `write`; it ends with the boot, for then the kernel counts the
    device's sectors from 0 again. It is not synced: a power loss is a boot as well.
    """

    def __init__(self, folder: Path, device: Device | None) -> None:
        self._device = device
        self._path = folder / f"since-trim-{'none' if device is None else device.name}"
        self._file = -1
        self._sectors = self._runs = 0
        self._take_up()

    def trimmed(self) -> None:
        """The device was trimmed just now."""
        written = self._written()
        if written is None:
            return
        self.close()
        fresh = self._path.with_suffix(".new")
        fresh.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(json.dumps({"boot_id": groups.boot_id(), "sectors": written}) + "\n")
        fresh.replace(self._path)
        self._take_up()

    def ran(self) -> None:
        """A run has ended."""
        if self._file >= 0:
            self._runs += 1
            os.write(self._file, RUN)

    def told(self) -> Mapping[str, float]:
        """Until now; empty before the first TRIM, for nobody knows what came before."""
        written = self._written()
        if self._file < 0 or written is None:
            return {}
        return {"bytes_since_trim": (written - self._sectors) * SECTOR_BYTES, "runs_since_trim": self._runs}

    def close(self) -> None:
        """Give the descriptor back."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _take_up(self) -> None:
        try:
            head, _, runs = self._path.read_bytes().partition(b"\n")
            trim = json.loads(head)
            known = trim["boot_id"] == groups.boot_id()
            self._sectors, self._runs = int(trim["sectors"]), len(runs)
        except (OSError, ValueError, LookupError, TypeError):
            return
        if known:
            self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)

    def _written(self) -> int | None:
        text = None if self._device is None else files.text(self._device.folder / "stat")
        return parse_sectors(text)[1] if text else None


class SinceTrim:
    """What the run found, told after it."""

    def __init__(self, use: Use | None) -> None:
        self._use = use
        self._told: Mapping[str, float] = {}

    def begin(self) -> None:
        self._told = {} if self._use is None else self._use.told()

    def end(self) -> Mapping[str, float]:
        return self._told

    def close(self) -> None:
        pass
