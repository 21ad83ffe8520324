"""How long a study will take: an estimate for the person who plans it, good to about a factor of two.

IOzone pauses around its tests, which measure two modes each: with its own pause of 2 s, writing alone takes 8.0 s,
with the reading test 12.0 s, with the random test 16.2 s, with both 20.2 s (version 3.489, file of 4 kB). The rate of
writing is that of 436 recorded invocations on SSDs: 3.2 s a mode for every GB that all processes write together, up
to 100 GB; what was just written is read from memory. `builtin` is for small files, which never leave memory. Not
counted: programs of the engine `command`, TRIM, dropping caches, repeated runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from orchestrator.contracts import engines
from orchestrator.contracts.designs import Design, Level
from orchestrator.contracts.engines import (
    IOZONE_MODES,
    SIX_MODES,
    BuiltinOptions,
    CommandOptions,
    FioOptions,
    ImportedOptions,
    IozoneOptions,
    Options,
    ReplayOptions,
)

if TYPE_CHECKING:
    from orchestrator.design.study import Study

IOZONE_OWN_SETTLE_S = 2.0
IOZONE_START_S = 0.15
BUILTIN_START_S = 0.03
FIO_START_S = 0.3
DISK_S_PER_GB = 3.2
MEMORY_S_PER_GB = 0.3
PAUSES: Mapping[frozenset[str], int] = {
    frozenset({"initial_writers", "rewriters"}): 4,
    frozenset({"readers", "re-readers"}): 2,
    frozenset({"random_readers", "random_writers"}): 4,
    **{frozenset({mode}): 2 for mode in set(IOZONE_MODES) - set(SIX_MODES)},
}
"""How often IOzone pauses for each of its tests. The first one makes the files, and always runs."""
WRITING = frozenset({"initial_writers", "rewriters", "random_writers", "pwrite_writers", "fwriters"})


def total_s(study: Study, design: Design) -> float:
    """Seconds one node needs for every invocation, controls included."""
    options = engines.as_dict(study.engine.options)
    return study.replicates * sum(each_run_s(design, study.engine.name, options, study.controls))


def each_run_s(
    design: Design, engine: str, engine_options: Mapping[str, object], controls: Mapping[str, Mapping[str, object]]
) -> list[float]:
    """Seconds of one run of each setting, in their order."""
    return [
        invocation_s(engines.options("replay", controls[setting.control]), {}, setting.modes)
        if setting.control is not None
        else run_s(_options(engine, engine_options, levels), levels, setting.modes)
        for setting in design.settings
        for levels in [dict(zip(design.factors, setting.levels, strict=False))]
    ]


def run_s(options: Options, setting: Mapping[str, Level], modes: tuple[str, ...]) -> float:
    """Seconds of one run: one invocation, or one a mode."""
    if isinstance(options, IozoneOptions) and options.modes_per_invocation == "one":
        return sum(invocation_s(options, setting, (mode,)) for mode in modes)
    return invocation_s(options, setting, modes)


def _options(engine: str, engine_options: Mapping[str, object], setting: Mapping[str, Level]) -> Options:
    return engines.options(engine, engines.for_setting(engine, engine_options, setting))


def invocation_s(options: Options, setting: Mapping[str, Level], modes: tuple[str, ...]) -> float:
    """Seconds of one invocation."""
    match options:
        case ReplayOptions():
            return options.run_s
        case CommandOptions() | ImportedOptions():
            return 0.0  # nobody here knows
        case FioOptions():
            return len({"initial_writers", *modes}) * FIO_START_S + _transfer_s(setting, modes)
        case BuiltinOptions():
            return BUILTIN_START_S + len(modes) * _all_files_gb(setting) * MEMORY_S_PER_GB
        case IozoneOptions():
            needed = {"initial_writers", *modes}
            pauses = sum(count for test, count in PAUSES.items() if test & needed)
            settle_s = IOZONE_OWN_SETTLE_S if options.settle_s is None else options.settle_s
            return IOZONE_START_S + pauses * settle_s + _transfer_s(setting, modes)


def _transfer_s(setting: Mapping[str, Level], modes: tuple[str, ...]) -> float:
    s_per_gb = sum(DISK_S_PER_GB if mode in WRITING else MEMORY_S_PER_GB for mode in modes)
    return _all_files_gb(setting) * s_per_gb


def _all_files_gb(setting: Mapping[str, Level]) -> float:
    return float(setting["threads"]) * float(setting["file_size_kb"]) / 1e6
