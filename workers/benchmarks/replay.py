"""The engine `replay`: plays samples back as if they were measured, for load tests, controls and teaching."""

from __future__ import annotations

import hashlib
import json
import math
import statistics
import struct
import time
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path

from orchestrator.contracts.designs import Level
from orchestrator.contracts.engines import ReplayOptions
from orchestrator.contracts.errors import JobFailure, StudyError, TableError
from orchestrator.contracts.jobs import FailureKind
from orchestrator.contracts.mixtures import Mixture
from orchestrator.contracts.tables import read_table
from workers.benchmarks.port import Outcome, Stopped, Succeeded, Task, TimedOut
from workers.benchmarks.stop import Stop

VERSION = "2"
_MODE = "mode"
_UNIFORM = struct.Struct("<QQ")
_STANDARD = statistics.NormalDist()


class Replay:
    """Recorded values, or draws from a known mixture; a repeated try of a replicate yields the same value."""

    name = "replay"
    settle_s = None

    def __init__(self, options: ReplayOptions, stop: Stop, recordings: Mapping[str, Path]) -> None:
        self._options = options
        self._stop = stop
        self._recordings = recordings

    def version(self) -> str:
        """The version of this engine."""
        return VERSION

    def prepare(self, task: Task) -> None:
        """Make sure that there is something to play for every mode. Raises JobFailure (study)."""
        if self._options.mixture is not None:
            _mixture(self._options.mixture)
        else:
            self._values(task, 0)

    def run(self, task: Task, replicate: int) -> Outcome:
        """Play one replicate; it lasts `run_s`, and can be stopped meanwhile."""
        values = self._values(task, replicate)
        begin = time.monotonic()
        stopped = self._stop.wait(min(self._options.run_s, self._options.timeout_s))
        elapsed_s = time.monotonic() - begin
        if stopped:
            return Stopped(elapsed_s=elapsed_s)
        if self._options.run_s > self._options.timeout_s:
            return TimedOut(timeout_s=self._options.timeout_s, output="", elapsed_s=elapsed_s)
        return Succeeded(values=values, elapsed_s=elapsed_s, exit_status=0)

    def _values(self, task: Task, replicate: int) -> tuple[float, ...]:
        if self._options.mixture is not None:
            mixture = _mixture(self._options.mixture)
            identity = json.dumps([self._options.seed, dict(task.setting), replicate])
            return tuple(draw(mixture, *_uniform(identity, mode)) for mode in task.modes)
        recording = _recording(self._path())
        return tuple(recording.value(task.setting, mode, replicate) for mode in task.modes)

    def _path(self) -> Path:
        name = str(self._options.recording)
        if name not in self._recordings:
            known = ", ".join(self._recordings) or "none"
            raise _study(f"engine.recording: {name!r} is not in this node's inventory; recordings there: {known}")
        return self._recordings[name]


@dataclass(frozen=True, kw_only=True, slots=True)
class Recording:
    """A wide CSV: the values of each configuration, found by its levels and mode."""

    path: Path
    label_names: tuple[str, ...]
    samples: Mapping[tuple[str, ...], Sequence[float]]

    def value(self, setting: Mapping[str, Level], mode: str, replicate: int) -> float:
        """The k-th value for replicate k. Raises JobFailure (study) when the recording has none."""
        assigned = {**setting, _MODE: mode}
        strange = [name for name in self.label_names if name not in assigned]
        if strange:
            raise _study(f"{self.path}: column {strange[0]!r} is no factor of the study")
        labels = [f"{name}={assigned[name]}" for name in self.label_names]
        sample = self.samples.get(tuple(_same(assigned[name]) for name in self.label_names), ())
        if replicate >= len(sample):
            raise _study(f"{self.path}: {len(sample)} values for {', '.join(labels)}, none for replicate {replicate}")
        return sample[replicate]


def draw(mixture: Mixture, choice: float, place: float) -> float:
    """One value of a mixture whose truth is known, by inversion of two numbers in (0, 1); throughput in kB/s."""
    reached = list(accumulate(component.weight for component in mixture.components[:-1]))
    component = mixture.components[bisect_right(reached, choice)]
    value = component.mean + component.standard_deviation * _STANDARD.inv_cdf(place)
    return math.exp(value) if mixture.family == "lognormal" else value


def _uniform(identity: str, mode: str) -> tuple[float, float]:
    """Two numbers in (0, 1) for one value: the same wherever, whenever and however often they are asked for.

    From a digest: a generator that is seeded for a single value costs twenty times as much as the value.
    """
    digest = hashlib.sha256(f"{identity} {mode}".encode()).digest()
    first, second = _UNIFORM.unpack_from(digest)
    return ((first >> 12) + 0.5) / 2**52, ((second >> 12) + 0.5) / 2**52


@lru_cache(maxsize=64)
def _mixture(notation: str) -> Mixture:
    try:
        return Mixture.parse(notation)
    except StudyError as problem:
        raise _study(f"engine.mixture: {problem}") from problem


def _recording(path: Path) -> Recording:
    try:
        return _read(path, path.stat().st_mtime_ns)
    except OSError as problem:
        raise _study(f"{path}: recording cannot be read: {problem.strerror}") from problem
    except TableError as problem:
        raise _study(str(problem)) from problem


@lru_cache(maxsize=2)
def _read(path: Path, modified_ns: int) -> Recording:
    """Keyed by the time of the last change as well: a changed file is another recording."""
    table = read_table(path)
    samples = {tuple(_same(label) for label in sample.labels): sample.values for sample in table.samples}
    return Recording(path=path, label_names=table.label_names, samples=samples)


def _same(level: Level) -> str:
    """One text for one level, however it is written: 16, 16.0 and "16" are the same file size."""
    try:
        return repr(float(level))
    except ValueError:
        return str(level)


def _study(reason: str) -> JobFailure:
    return JobFailure(FailureKind.STUDY, reason)
