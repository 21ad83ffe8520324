"""Around one run: counters before and after, nothing in between but rare frequency samples."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from workers.node import counters
from workers.node.collectors import Counting
from workers.node.facts import filesystem, kernel_log, temperature
from workers.node.facts.frequency import Scaling
from workers.node.gate import Observation
from workers.node.load_frequency import Meter
from workers.node.settings.steps import Facts


class Watch:
    """One a job; begin and end once a run."""

    def __init__(
        self,
        root: Path,
        facts: Facts,
        *,
        scalings: tuple[Scaling, ...],
        wanted_khz: int | None,
        target: Path,
        shared: bool,
        counting: Mapping[str, Counting],
    ) -> None:
        """`scalings`: of the CPUs whose frequency is looked at, those that `wanted_khz` is meant for."""
        self._root = root
        self._facts = facts
        self._wanted_khz = wanted_khz
        self._target = target
        self._shared = shared
        self._meter = Meter(root, scalings)
        self._log = kernel_log.Tail(root)
        self._counting = counting
        self._begun_at = time.monotonic()
        self._before = counters.read(root, facts.device)

    def begin(self) -> None:
        """Right before the run."""
        for collector in self._counting.values():
            collector.begin()
        self._log.new()
        self._begun_at = time.monotonic()
        self._before = counters.read(self._root, self._facts.device)
        self._meter.begin()

    def end(self, *, start_temperature_c: float | None = None, cached_kb: int | None = None) -> Observation:
        """Right after the run."""
        frequency = self._meter.end()
        after = counters.read(self._root, self._facts.device)
        elapsed_s = time.monotonic() - self._begun_at
        lines = self._log.new()
        return Observation(
            wanted_khz=self._wanted_khz,
            frequency_khz=None if frequency is None else frequency.khz,
            frequency_source=None if frequency is None else frequency.source,
            cached_kb=cached_kb,
            start_temperature_c=start_temperature_c,
            temperature_c=temperature.of_cpu(temperature.read(self._root)),
            foreign_cpus=counters.foreign_cpus(self._before, after, elapsed_s),
            foreign_kbps=counters.foreign_kbps(self._before, after, elapsed_s),
            kernel_errors=None if lines is None else tuple(line.text for line in lines if line.is_error),
            free_kb=filesystem.free_kb(self._target),
            shared=self._shared,
        )

    def collected(self) -> dict[str, object]:
        """What was counted around the run, by collector; to be asked for once, after `end`."""
        found = {name: dict(collector.end()) for name, collector in self._counting.items()}
        return {name: counted for name, counted in found.items() if counted}

    def close(self) -> None:
        """Give descriptors back; no sample is taken any more."""
        self._meter.end()
        self._log.close()
        for collector in self._counting.values():
            collector.close()
