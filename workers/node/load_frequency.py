"""The CPU frequency under load: from APERF/MPERF over the whole run where they can be read, else from rare samples.

APERF counts the cycles of a CPU while it is not idle, MPERF those that a fixed frequency would have made in the same
time: the base frequency where the driver tells it, else the rate of the time-stamp counter, which differs from it by
less than 1 % (turbostat(8), Bzy_MHz).
"""

from __future__ import annotations

import os
import statistics
import struct
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from workers.node.facts.frequency import Scaling, current_khz

TSC, MPERF, APERF = 0x10, 0xE7, 0xE8
"""Numbers of the registers (Intel SDM, volume 4; AMD has the same)."""
FIRST_SAMPLE_S = 1.0
"""Then after twice as long each time: never more than one wake-up a second while a benchmark measures."""
LONGEST_PAUSE_S = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """A frequency and how it was come by."""

    khz: int
    source: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Registers:
    """Of one CPU, at one moment."""

    aperf: int
    mperf: int
    tsc: int
    at_s: float
    """Monotonic."""


class Meter:
    """Begin before a run, end after it. On a machine without cpufreq it does nothing at all."""

    def __init__(self, root: Path, scalings: tuple[Scaling, ...]) -> None:
        self._root = root
        self._scalings = scalings
        self._before: list[Registers] | None = None
        self.samples: list[int] = []
        """Of the run in hand, in kHz."""
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Read the registers; without them, start sampling."""
        if not self._scalings:
            return
        self._before = self._all_registers()
        if self._before is None:
            self.samples = []
            self._over.clear()
            self._thread = threading.Thread(target=self._sample, name="frequency", daemon=True)
            self._thread.start()

    def end(self) -> Seen | None:
        """What the CPUs ran at."""
        if self._thread is not None:
            self._over.set()
            self._thread.join()
            self._thread = None
        if self._before is not None and (measured := self._measured(self._before)) is not None:
            return Seen(khz=measured, source="aperf_mperf")
        if self.samples:
            return Seen(khz=int(statistics.median(self.samples)), source="sampled")
        now = self._now()
        return None if now is None else Seen(khz=now, source="after_run")

    def _sample(self) -> None:
        pause_s = FIRST_SAMPLE_S
        while not self._over.wait(pause_s):
            if (now := self._now()) is not None:
                self.samples.append(now)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    def _now(self) -> int | None:
        """The fastest CPU's: one that is idle says little."""
        found = (current_khz(scaling) for scaling in self._scalings)
        return max((khz for khz in found if khz is not None), default=None)

    def _measured(self, before: list[Registers]) -> int | None:
        """Average while not idle, over all CPUs."""
        after = self._all_registers()
        if after is None:
            return None
        actual = sum(now.aperf - then.aperf for then, now in zip(before, after, strict=True))
        reference = sum(now.mperf - then.mperf for then, now in zip(before, after, strict=True))
        base_khz = self._scalings[0].base_khz
        if base_khz is None:
            base_khz = rate_khz(before[0], after[0])
        return round(base_khz * actual / reference) if reference > 0 else None

    def _all_registers(self) -> list[Registers] | None:
        """Of every CPU; None where they are not for us to read."""
        try:
            return [registers(self._root, scaling.cpu) for scaling in self._scalings]
        except (OSError, struct.error):
            return None


def rate_khz(then: Registers, now: Registers) -> int:
    """Of the time-stamp counter."""
    return round((now.tsc - then.tsc) / (now.at_s - then.at_s) / 1000)


def registers(root: Path, cpu: int) -> Registers:
    """Of a CPU. Raises OSError: no such device (module msr), or only for root."""
    descriptor = os.open(root / f"dev/cpu/{cpu}/msr", os.O_RDONLY | os.O_CLOEXEC)
    try:
        aperf, mperf, tsc = (struct.unpack("<Q", os.pread(descriptor, 8, number))[0] for number in (APERF, MPERF, TSC))
        return Registers(aperf=aperf, mperf=mperf, tsc=tsc, at_s=time.monotonic())
    finally:
        os.close(descriptor)
