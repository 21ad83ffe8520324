"""The study's `node` part: the state a node has to be in. What a node cannot fulfil fails the job, never silently."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any

from orchestrator.contracts.errors import StudyError

AS_IS = "as_is"
"""Left alone; stored as such with every run."""


class Cadence(StrEnum):
    """How often something is done to a node."""

    NEVER = "never"
    PER_JOB = "per_job"
    PER_RUN = "per_run"


class Frequency(StrEnum):
    """Whether the CPU frequency is set."""

    PINNED = "pinned"
    """To the level of the factor `frequency_khz`, on all CPUs of `cpus`."""
    AS_IS = AS_IS


class Switch(StrEnum):
    """Something that is on or off."""

    ON = "on"
    OFF = "off"
    AS_IS = AS_IS


class Collector(StrEnum):
    """What can be counted around a run. Absent where a machine has it not; never a failure."""

    PROC = "proc"
    """Context switches, page faults, sectors of the target's device."""
    RAPL = "rapl"
    """Energy from powercap, in joules."""
    PERF = "perf"
    """Hardware and software counters of the benchmark, by `perf stat`."""
    PERF_ROTATE = "perf_rotate"
    """More hardware counters: groups that fit the PMU, one a run, spread over the replicates."""
    POWER = "power"
    """Power of the whole node, a sample a second: the operator's command, hwmon or IPMI DCMI."""
    TRIM = "trim"
    """Bytes written and runs since the last TRIM."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bounds:
    """Beyond which a run does not count. None: not judged. None of them looks at throughput."""

    frequency_tolerance: float | None = 0.05
    """Of the wanted frequency, as a fraction."""
    max_temperature_c: float | None = 95.0
    """At the end of a run."""
    max_start_temperature_c: float | None = 80.0
    """A node that does not cool down below it in time does not start in the state of the others."""
    max_foreign_cpus: float | None = 0.5
    """CPUs that others kept busy, on average over the run."""
    max_foreign_kbps: float | None = 20_000.0
    """What others read and wrote on the target's device, on average over the run."""
    max_cached_kb: float | None = 64 * 1024
    """File pages in no process, in the page cache when an invocation begins that is to find it dropped."""
    max_kernel_errors: float | None = 0
    """New lines of level error or worse in the kernel's log."""
    min_free_kb: float | None = 100 * 1024
    """Left on the target's file system when the run has ended."""

    def as_dict(self) -> dict[str, float | None]:
        """JSON-able values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, given: object) -> Bounds:
        """Raises StudyError on an unknown key, or a value that is no number from 0 on."""
        if not isinstance(given, Mapping):
            raise StudyError("node.bounds: has to be a mapping")
        known = [one.name for one in fields(cls)]
        for name, value in given.items():
            if name not in known:
                raise StudyError(f"node.bounds: unknown key {name!r}; known: {', '.join(known)}")
            if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0):
                raise StudyError(f"node.bounds.{name}: {value!r} is no number from 0 on, nor null for 'not judged'")
        return cls(**given)


NO_BOUNDS = Bounds(**dict.fromkeys((one.name for one in fields(Bounds)), None))


@dataclass(frozen=True, kw_only=True, slots=True)
class Preparation:
    """What is done to a node, how often, and which runs count."""

    frequency: Frequency = Frequency.AS_IS
    cpus: str = "all"
    """Whose frequency and governor are set: `all`, or a list as `0-3,8`."""
    governor: str = AS_IS
    turbo: Switch = Switch.AS_IS
    smt: Switch = Switch.AS_IS
    max_wake_us: int | None = None
    """CPUs stay out of C-states that take longer to leave (0: out of all); None: as is."""
    queue_scheduler: str = AS_IS
    """Of the target's block device."""
    sync: Cadence = Cadence.PER_RUN
    """Then wait until less than 1 MB is left to be written, for `settle_timeout_s` at most."""
    trim: Cadence = Cadence.NEVER
    drop_caches: Cadence = Cadence.NEVER
    settle_timeout_s: float = 30.0
    """How long a node may take to have written everything, and to cool down, before a run."""
    collect: tuple[Collector, ...] = ()
    bounds: Bounds = field(default_factory=Bounds)

    def as_dict(self) -> dict[str, Any]:
        """JSON-able values."""
        plain = {one.name: getattr(self, one.name) for one in fields(self)}
        texts = {name: str(value) for name, value in plain.items() if isinstance(value, StrEnum)}
        return plain | texts | {"collect": [str(one) for one in self.collect], "bounds": self.bounds.as_dict()}

    @classmethod
    def from_dict(cls, options: Mapping[str, object]) -> Preparation:
        """Read the study's `node` mapping. Raises StudyError on an unknown key or value."""
        chosen: dict[str, Any] = {}
        for name, value in options.items():
            if name not in _READERS:
                raise StudyError(f"node: unknown key {name!r}; known: {', '.join(_READERS)}")
            try:
                chosen[name] = _READERS[name](value)
            except ValueError as problem:
                raise StudyError(f"node.{name}: {value!r} is {problem}") from None
        return cls(**chosen)


def _one_of(kind: type[StrEnum]) -> Callable[[object], StrEnum]:
    def read(value: object) -> StrEnum:
        allowed = [str(member) for member in kind]
        if isinstance(value, bool) and kind is Switch:  # YAML reads a bare `off` as a truth value
            value = "on" if value else "off"
        if value not in allowed:
            raise ValueError(f"not one of {', '.join(allowed)}")
        return kind(str(value))

    return read


def _matching(pattern: str, advice: str) -> Callable[[object], str]:
    def read(value: object) -> str:
        if not isinstance(value, str) or not re.fullmatch(pattern, value, re.ASCII):
            raise ValueError(f"no {advice}")
        return value

    return read


def _wake(value: object) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 1_000_000):
        raise ValueError("no number of microseconds from 0 to 1000000")
    return value


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 3600:
        raise ValueError("no number of seconds from 0 to 3600")
    return float(value)


def _collectors(value: object) -> tuple[Collector, ...]:
    listed = value if isinstance(value, list | tuple) else [value]
    read = _one_of(Collector)
    return tuple(dict.fromkeys(Collector(str(read(one))) for one in listed))


_NAME = r"[a-z][a-z0-9_-]{0,31}"
_READERS: Mapping[str, Callable[[object], object]] = {
    "frequency": _one_of(Frequency),
    "cpus": _matching(r"all|\d{1,4}(-\d{1,4})?(,\d{1,4}(-\d{1,4})?){0,255}", "list of CPUs: write `all`, or `0-3,8`"),
    "governor": _matching(_NAME, "name of a governor"),
    "turbo": _one_of(Switch),
    "smt": _one_of(Switch),
    "max_wake_us": _wake,
    "queue_scheduler": _matching(_NAME, "name of a queue scheduler"),
    "sync": _one_of(Cadence),
    "trim": _one_of(Cadence),
    "drop_caches": _one_of(Cadence),
    "settle_timeout_s": _seconds,
    "collect": _collectors,
    "bounds": Bounds.from_dict,
}
