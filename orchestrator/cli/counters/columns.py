"""Tables of counters: which column is what, by its name and what it holds; every guess can be overruled."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from analysis.arrays import Array
from analysis.counters.merging import Rows
from orchestrator.contracts.errors import TableError
from orchestrator.contracts.tables import read_cells

FREQUENCY = re.compile(r"(cpu_?)?(freq|frequency)([_ ]?(hz|khz|mhz|ghz))?|cpufreq|f|ghz", re.IGNORECASE)
CYCLES = re.compile(r"((cpu|total)[-_])?cycles(:\w+)?|papi_tot_cyc|tot_cyc|cpu_clk_unhalted[.:\w]*", re.IGNORECASE)
TARGETS = re.compile(
    r"(run_?time|time|total_time|watts|elapsed|execution_time|((node|system|cpu|memory|mem|dram|package|total)_)?(power|energy)|throughput"
    r"|io_time)(_(s|w|j|kbps))?",
    re.IGNORECASE,
)
WITHIN = frozenset({"", "iter", "subiter", "iteration", "replicate", "repetition", "repeat", "rep", "try", "run"})
EVENT = re.compile(
    r"papi_\w+|.*(miss|load|store|branch|instruction|fault|switch|migration|reference|cycle|stall|retired|hit|prefetch"
    r"|flop|tlb|cache|clock|_ins$|uops|bytes).*|(c|r|ctr|cnt|counter|event|x|pmc)[-_ ]?\d+|r[0-9a-f]{3,}",
    re.IGNORECASE,
)
FACTOR = re.compile(
    r"threads?|ranks?|processes|procs|nodes?|cores?|cpus?|tasks?|size|.*_(size|kb|mb)|[fr]size|steps?|n|id|case|sample"
    r"|config(uration)?|problem.*|host|media|system|test|mode|seed",
    re.IGNORECASE,
)
FEW = 12
"""A column of whole numbers with at most so many different ones, and a fifth of the rows, is a label."""
UNITS_GHZ = {"hz": 1e-9, "khz": 1e-6, "mhz": 1e-3, "ghz": 1.0}
Cells = Sequence[dict[str, str]]


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What the user said about columns; None: to be recognised. Names of counters may be patterns (`L1-*`)."""

    labels: tuple[str, ...] | None = None
    counters: tuple[str, ...] | None = None
    targets: tuple[str, ...] | None = None
    frequency: str | None = None
    cycles: str | None = None


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which column is what."""

    labels: tuple[str, ...]
    within: tuple[str, ...]
    counters: tuple[str, ...]
    targets: tuple[str, ...]
    frequency: str | None
    cycles: str | None


def read(paths: Sequence[Path], wanted: Wanted) -> tuple[Rows, Columns]:
    """The rows of one table, or of several with the same columns: then `file` is a label. Raises TableError."""
    header, cells = _cells(paths)
    columns = recognised(paths[0], header, cells, wanted)
    number = _reader(paths[0], cells)
    frequency = None if columns.frequency is None else ghz(columns.frequency, number(columns.frequency))
    found = Rows(
        labels={name: tuple(row[name].strip() for row in cells) for name in columns.labels},
        within={name: tuple(row[name].strip() for row in cells) for name in columns.within},
        counters={name: _count(paths[0], name, number(name)) for name in columns.counters},
        cycles=columns.cycles,
        frequency_ghz=frequency,
        targets={name: number(name) for name in columns.targets},
    )
    return found, columns


def recognised(path: Path, header: Sequence[str], cells: Cells, wanted: Wanted) -> Columns:
    """Which column is what. Counters there may be none of. Raises TableError where nothing can be a target."""
    _check_known(path, header, wanted)
    numbers = [name for name in header if _is_number(cells, name)]
    frequency = wanted.frequency or _first(header, FREQUENCY, numbers)
    targets = wanted.targets or tuple(name for name in numbers if TARGETS.fullmatch(name.strip()))
    if wanted.targets:  # the others are no counters either
        others = [name for name in numbers if TARGETS.fullmatch(name.strip()) and name not in targets]
        targets = (*targets, *others)
    within = tuple(name for name in header if name.strip().lower() in WITHIN and name not in (wanted.labels or ()))
    left = [name for name in header if name not in {*targets, *within, *(wanted.labels or ()), frequency}]
    if wanted.counters is None:
        counters = tuple(name for name in left if name in numbers and _is_counter(cells, name))
    else:
        counters = tuple(name for name in header if any(_fits(name, one) for one in wanted.counters))
    cycles = wanted.cycles or next((name for name in counters if CYCLES.fullmatch(name.strip())), None)
    if cycles is not None and cycles not in counters:
        counters = (*counters, cycles)
    if wanted.labels is None:
        labels = tuple(name for name in header if name not in {*targets, *within, *counters})
    else:
        labels = wanted.labels
    if not targets:
        raise TableError(f"{path}: row 1: no column looks like a target (runtime, node_power): name it with --target")
    return Columns(
        labels=labels, within=within, counters=counters, targets=targets, frequency=frequency, cycles=cycles
    )  # fmt: skip


def ghz(name: str, values: Array) -> Array:
    """Frequencies in GHz: by the unit in the column's name, otherwise by their size."""
    unit = next((factor for unit, factor in UNITS_GHZ.items() if name.lower().endswith(("_" + unit, " " + unit))), None)
    if unit is None:
        middle = float(np.nanmedian(values))
        unit = 1e-9 if middle > 1e8 else 1e-6 if middle > 1e5 else 1e-3 if middle > 50 else 1.0
    if np.nanmin(values) <= 0:
        raise TableError(f"column {name!r}: a frequency is above 0")
    return values * unit


def _cells(paths: Sequence[Path]) -> tuple[list[str], list[dict[str, str]]]:
    header, cells = read_cells(paths[0])
    if len(paths) == 1:
        return header, cells
    name = "file" if "file" not in header else "table"
    found = [{name: _stem(paths[0]), **row} for row in cells]
    for path in paths[1:]:
        others, more = read_cells(path)
        if others != header:
            raise TableError(f"{path}: row 1: has other columns than {paths[0]}")
        found += [{name: _stem(path), **row} for row in more]
    return [name, *header], found


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".csv")


def _check_known(path: Path, header: Sequence[str], wanted: Wanted) -> None:
    named = [*(wanted.labels or ()), *(wanted.targets or ()), wanted.frequency, wanted.cycles]
    missing = [name for name in named if name is not None and name not in header]
    patterns = [one for one in wanted.counters or () if not any(_fits(name, one) for name in header)]
    for name in (*missing, *patterns):
        raise TableError(f"{path}: row 1: no column is named {name!r}; columns are {', '.join(header)}")


def _is_number(cells: Cells, name: str) -> bool:
    some = [row[name].strip() for row in cells if row[name].strip()]
    try:
        return bool(some) and all(np.isfinite(float(text)) for text in some)
    except ValueError:
        return False


def _is_counter(cells: Cells, name: str) -> bool:
    plain = name.strip()
    if EVENT.fullmatch(plain):
        return True
    if FACTOR.fullmatch(plain):
        return False
    values = {row[name].strip() for row in cells}
    whole = all(float(text).is_integer() for text in values if text)
    return not (whole and len(values) <= min(FEW, max(2, len(cells) // 5)))


def _first(header: Iterable[str], pattern: re.Pattern[str], among: Sequence[str]) -> str | None:
    return next((name for name in header if name in among and pattern.fullmatch(name.strip())), None)


def _reader(path: Path, cells: Cells) -> Callable[[str], Array]:
    def number(name: str) -> Array:
        found = np.full(len(cells), np.nan)
        for k, row in enumerate(cells):
            text = row[name].strip()
            if text:
                found[k] = _value(path, k + 2, name, text)
        return found

    return number


def _value(path: Path, row: int, name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise TableError(f"{path}: row {row}, column {name!r}: {text!r} is not a finite number")
    return value


def _count(path: Path, name: str, values: Array) -> Array:
    if np.nanmin(values, initial=0.0) < 0:
        raise TableError(f"{path}: column {name!r}: a counter is never below 0; --counters names those that are")
    return values


def _fits(name: str, pattern: str) -> bool:
    return name == pattern or fnmatchcase(name, pattern)
