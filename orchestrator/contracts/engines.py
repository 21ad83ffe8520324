"""What a study may say to an engine: options as frozen values, checked without the engine being here."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from typing import Any, ClassVar

from orchestrator.contracts.designs import Level
from orchestrator.contracts.errors import StudyError
from orchestrator.contracts.mixtures import Mixture

SIX_MODES = ("initial_writers", "rewriters", "readers", "re-readers", "random_readers", "random_writers")
"""The modes of the published study, in the order in which IOzone's throughput mode runs them."""

IOZONE_MODES = (
    *("initial_writers", "rewriters", "readers", "re-readers", "reverse_readers", "stride_readers", "random_readers"),
    *("mixed_workload", "random_writers", "pwrite_writers", "pread_readers", "fwriters", "freaders"),
)
"""All thirteen of IOzone's throughput mode, in its order and by its own names, blanks to underscores."""

RETESTS = ("rewriters", "re-readers")
"""What IOzone leaves out when it is told not to test again (`-+n`)."""

IO_FACTORS = ("threads", "file_size_kb", "record_size_kb")
"""The factors without which no I/O benchmark can run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class IozoneOptions:
    """IOzone in throughput mode."""

    required_factors: ClassVar[tuple[str, ...]] = IO_FACTORS
    overridden_by_factors: ClassVar[tuple[str, ...]] = ("settle_s", "target")
    settle_s: float | None = None
    """The pause around each test in seconds; None: IOzone's own (2 s, no shim)."""
    stonewall: bool = True
    """False: `-x`, every process finishes its file before the test ends."""
    direct: bool = False
    """`-I`: O_DIRECT, past the page cache."""
    sync_writes: bool = False
    """`-o`: O_SYNC."""
    time_flush: bool = False
    """`-e`: fsync and fflush are part of the time."""
    time_close: bool = False
    """`-c`: close is part of the time."""
    no_retest: bool = False
    """`-+n`: neither rewriters nor re-readers."""
    modes_per_invocation: str = field(default="all", metadata={"choices": ("all", "one")})
    """One: every mode in an invocation and with files of its own, so that it shares no state with the others."""
    target: str = "default"
    """A name from the node's inventory: the folder in which files are made."""
    timeout_s: float = 600.0
    """A run that takes longer is ended, with its whole process group."""

    @property
    def modes(self) -> tuple[str, ...]:
        """What can be measured, in IOzone's order."""
        return tuple(mode for mode in IOZONE_MODES if not (self.no_retest and mode in RETESTS))

    @property
    def default_modes(self) -> tuple[str, ...]:
        """What is measured where a study names no modes."""
        return tuple(mode for mode in SIX_MODES if mode in self.modes)


@dataclass(frozen=True, kw_only=True, slots=True)
class BuiltinOptions:
    """The small benchmark that ships with Modescope: real file I/O, for trying and for tests."""

    modes: ClassVar[tuple[str, ...]] = SIX_MODES
    default_modes: ClassVar[tuple[str, ...]] = SIX_MODES
    required_factors: ClassVar[tuple[str, ...]] = IO_FACTORS
    overridden_by_factors: ClassVar[tuple[str, ...]] = ("target",)
    stonewall: bool = True
    target: str = "default"
    timeout_s: float = 600.0


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplayOptions:
    """Plays samples back as if they were measured: either recorded ones, or draws from a known mixture."""

    modes: ClassVar[tuple[str, ...] | None] = None
    default_modes: ClassVar[tuple[str, ...] | None] = None
    required_factors: ClassVar[tuple[str, ...]] = ()
    overridden_by_factors: ClassVar[tuple[str, ...]] = ()
    recording: str | None = None
    """A name from the node's inventory (`recordings:`): a wide CSV whose label columns are factors and `mode`."""
    mixture: str | None = None
    """`normal:w,mu,sd;w,mu,sd`: throughput in kB/s; the truth is known, the draws depend on seed and replicate only."""
    seed: int = 0
    run_s: float = 0.0
    """How long a played run pretends to last."""
    timeout_s: float = 600.0


@dataclass(frozen=True, kw_only=True, slots=True)
class FioOptions:
    """fio 3.x with plain read and write calls, in the same six modes."""

    modes: ClassVar[tuple[str, ...]] = SIX_MODES
    default_modes: ClassVar[tuple[str, ...]] = SIX_MODES
    required_factors: ClassVar[tuple[str, ...]] = IO_FACTORS
    overridden_by_factors: ClassVar[tuple[str, ...]] = ("target",)
    direct: bool = False
    """O_DIRECT, past the page cache."""
    sync_writes: bool = False
    """O_SYNC."""
    time_flush: bool = False
    """fsync at the end of writing."""
    target: str = "default"
    timeout_s: float = 600.0


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandOptions:
    """A program that the node's inventory names; the modes of a study are the program's metrics."""

    modes: ClassVar[tuple[str, ...] | None] = None
    default_modes: ClassVar[tuple[str, ...] | None] = None
    required_factors: ClassVar[tuple[str, ...]] = ()
    overridden_by_factors: ClassVar[tuple[str, ...]] = ("program", "target")
    program: str
    metric: str = field(default="throughput", metadata={"pattern": r"[A-Za-z][A-Za-z0-9 _-]{0,31}"})
    """What its numbers are, in words: for axes and tables."""
    unit: str = field(default="kB/s", metadata={"pattern": r"[A-Za-z0-9%°µ/^*._-]{1,16}"})
    """Of all values of the study. A rate is converted from the inventory's unit; any other has to be the same there."""
    larger_is_better: bool = True
    target: str = "default"
    timeout_s: float = 600.0


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedOptions:
    """What `modescope import` found: no node offers it, no study may ask for it, nothing is ever handed out."""

    modes: ClassVar[tuple[str, ...] | None] = None
    default_modes: ClassVar[tuple[str, ...] | None] = None
    required_factors: ClassVar[tuple[str, ...]] = ()
    overridden_by_factors: ClassVar[tuple[str, ...]] = ()
    source: str
    """The name of the file or folder."""
    sha256: str
    """Of the data and of the mapping by which it was read."""
    metric: str = "throughput"
    unit: str = "kB/s"
    larger_is_better: bool = True
    timeout_s: float = 600.0


Options = IozoneOptions | FioOptions | BuiltinOptions | ReplayOptions | CommandOptions | ImportedOptions

KINDS: Mapping[str, type[Options]] = {
    "iozone": IozoneOptions,
    "fio": FioOptions,
    "builtin": BuiltinOptions,
    "command": CommandOptions,
    "replay": ReplayOptions,
}
"""What a study may measure with."""

IMPORTED = "imported"
_KNOWN: Mapping[str, type[Options]] = {**KINDS, IMPORTED: ImportedOptions}


def options(name: str, given: Mapping[str, object], *, where: str = "engine") -> Options:
    """The options of engine `name` as a frozen value; `where` is the study's key that a message names.

    Raises StudyError for an unknown engine, an unknown option (naming the nearest right one) or a wrong type.
    """
    kind = _KNOWN.get(name)
    if kind is None:
        raise StudyError(f"{where}: {name!r} is not one of {', '.join(KINDS)}{_nearest(name, KINDS)}")
    known = {option.name: option for option in fields(kind)}
    for key, value in given.items():
        if key not in known:
            raise StudyError(f"{where}.{key}: unknown option of {name}{_nearest(key, known)}")
        if not _fits(value, str(known[key].type)):
            raise StudyError(f"{where}.{key}: {value!r} is not of type {known[key].type}")
        choices = known[key].metadata.get("choices")
        if choices is not None and value not in choices:
            raise StudyError(f"{where}.{key}: {value!r} is not one of {', '.join(choices)}")
        pattern = known[key].metadata.get("pattern")
        if pattern is not None and not re.fullmatch(pattern, str(value)):
            raise StudyError(f"{where}.{key}: {value!r} is too long, or has signs that do not belong there")
    for option in known.values():
        if option.default is MISSING and option.name not in given:
            raise StudyError(f"{where}.{option.name}: is missing; engine {name} needs it")
    chosen = kind(**given)  # type: ignore[arg-type]  # checked against the field types just above
    if isinstance(chosen, ReplayOptions):
        _check_replay(chosen, where)
    return chosen


def for_setting(name: str, given: Mapping[str, object], setting: Mapping[str, Level]) -> dict[str, object]:
    """The options of engine `name` for one setting: a factor overrides the option of its name."""
    overriding = KINDS[name].overridden_by_factors if name in KINDS else ()
    return {**given, **{factor: setting[factor] for factor in overriding if factor in setting}}


def as_dict(chosen: Options) -> dict[str, Any]:
    """JSON-able values, all options included."""
    return asdict(chosen)


def _check_replay(chosen: ReplayOptions, where: str) -> None:
    if (chosen.recording is None) == (chosen.mixture is None):
        raise StudyError(f"{where}: replay wants exactly one of `recording` and `mixture`")
    if chosen.mixture is not None:
        try:
            Mixture.parse(chosen.mixture)
        except StudyError as error:
            raise StudyError(f"{where}.mixture: {error}") from None


def _fits(value: object, declared: str) -> bool:
    if isinstance(value, bool):
        return "bool" in declared
    if value is None:
        return "None" in declared
    if isinstance(value, int | float):
        negative = value < 0 or value != value  # noqa: PLR0124 - NaN
        return not negative and ("float" in declared or (isinstance(value, int) and "int" in declared))
    return isinstance(value, str) and "str" in declared


def _nearest(word: str, known: Mapping[str, object]) -> str:
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; known: {', '.join(known)}"
