"""Differences of /proc: context switches, page faults, sectors; of the machine, and of the benchmark alone."""

from __future__ import annotations

import resource
from collections.abc import Mapping
from pathlib import Path

from workers.node.counters import parse_sectors
from workers.node.facts import files
from workers.node.facts.device import Device

LINES = {"ctxt": "context_switches", "pgfault": "page_faults", "pgmajfault": "major_page_faults"}


def parse(text: str) -> dict[str, float]:
    """The lines of /proc/stat or /proc/vmstat that count."""
    words = (line.split() for line in text.splitlines())
    return {LINES[pair[0]]: int(pair[1]) for pair in words if len(pair) == 2 and pair[0] in LINES}


class Proc:
    """Counters of the kernel."""

    def __init__(self, root: Path, device: Device | None) -> None:
        self._root = root
        self._device = device
        self._before: dict[str, float] = {}

    def begin(self) -> None:
        self._before = self._now()

    def end(self) -> Mapping[str, float]:
        after = self._now()
        return {name: after[name] - self._before[name] for name in after if name in self._before}

    def close(self) -> None:
        pass

    def _now(self) -> dict[str, float]:
        found = parse(files.text(self._root / "proc/stat") or "") | parse(files.text(self._root / "proc/vmstat") or "")
        sectors = None if self._device is None else files.text(self._device.folder / "stat")
        if sectors:
            found["sectors_read"], found["sectors_written"] = parse_sectors(sectors)
        own = resource.getrusage(resource.RUSAGE_CHILDREN)
        found["own_context_switches"] = own.ru_nvcsw + own.ru_nivcsw
        found["own_page_faults"] = own.ru_minflt + own.ru_majflt
        return found
