"""Before a run: nothing waits to be written, and the CPUs have cooled down."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from workers.node.facts import memory, temperature

UNWRITTEN_KB = 1024
"""With less than this left to be written (Dirty + Writeback), a disk has nothing to do."""
PAUSE_S = 0.05


@dataclass(frozen=True, kw_only=True, slots=True)
class Quiet:
    """The node when a run may start."""

    dirty_kb: int | None
    writeback_kb: int | None
    temperature_c: float | None
    waited_s: float

    def as_dict(self) -> dict[str, object]:
        """For a run's `observed`; what the machine does not tell is left out."""
        found = {
            "dirty_kb": self.dirty_kb,
            "writeback_kb": self.writeback_kb,
            "start_temperature_c": self.temperature_c,
        }
        told: dict[str, object] = {name: value for name, value in found.items() if value is not None}
        return told | ({"waited_s": round(self.waited_s, 3)} if self.waited_s > 0 else {})


def sync_if_needed(root: Path, sync: Callable[[], None] = os.sync) -> None:
    """A sync costs milliseconds even when there is little to write: below 1 MB it is left out."""
    found = memory.read(root)
    if found is None or found.unwritten_kb is None or found.unwritten_kb >= UNWRITTEN_KB:
        sync()


def wait(root: Path, *, timeout_s: float, until_written: bool, cool_to_c: float | None) -> Quiet:
    """Until the CPUs are cool enough and, if that is asked for, little is left to be written; at most `timeout_s`."""
    begin = time.monotonic()
    pause = threading.Event()
    waited_s = 0.0
    while True:
        found, hottest = memory.read(root), temperature.of_cpu(temperature.read(root))
        unwritten_kb = None if found is None else found.unwritten_kb
        written = not until_written or unwritten_kb is None or unwritten_kb < UNWRITTEN_KB
        cool = hottest is None or cool_to_c is None or hottest <= cool_to_c
        if (written and cool) or waited_s >= timeout_s:
            return Quiet(
                dirty_kb=None if found is None else found.dirty_kb,
                writeback_kb=None if found is None else found.writeback_kb,
                temperature_c=hottest,
                waited_s=waited_s,
            )
        pause.wait(PAUSE_S)
        waited_s = time.monotonic() - begin
