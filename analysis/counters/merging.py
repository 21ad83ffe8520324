"""From rows to samples: rows of one run joined, counters divided by cycles, replicates merged by configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from analysis.arrays import Array, Indices
from analysis.counters.samples import Samples

Merge = Literal["auto", "median", "mean", "min_runtime", "none"]
MERGES: tuple[Merge, ...] = get_args(Merge)
RUNTIME = "runtime"


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """A table as it was read: one entry a row in every column; NaN for an empty cell of a number."""

    labels: Mapping[str, tuple[str, ...]]
    """What tells configurations apart, as text."""
    within: Mapping[str, tuple[str, ...]]
    """What numbers the rows of one configuration (iteration, replicate): no part of its name."""
    counters: Mapping[str, Array]
    cycles: str | None
    """Which counter holds the total cycles."""
    frequency_ghz: Array | None
    targets: Mapping[str, Array]
    notes: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """The number of rows."""
        columns = (*self.targets.values(), *self.counters.values())
        return len(columns[0])


def samples(rows: Rows, merge: Merge = "auto") -> Samples:
    """The samples of a table. `auto` merges by the median where runs are numbered, or where counters are missing.

    Rows that hold one vector of counters are one run that wrote a row for each mode: joined, so that nothing is
    counted twice. Then counters become rates, per cycle of their own run, and the runs of one configuration become
    one sample: the median or mean of each column, or each set of counters from its run with the smallest runtime.
    """
    joined = _joined(rows)
    if merge == "auto":
        merge = "median" if rows.within or _has_gaps(joined) else "none"
    return _merged(joined, _per_cycle(joined), merge)


def _has_gaps(rows: Rows) -> bool:
    """Are there runs that did not count everything?"""
    return any(np.isnan(column).any() for column in rows.counters.values())


def _joined(rows: Rows) -> Rows:
    """One row a run. A column that differs within a run is a mode: its targets become columns of their own."""
    if not rows.counters:
        return rows
    table = np.nan_to_num(np.column_stack(list(rows.counters.values())), nan=-1.0)
    vectors = np.unique(table, axis=0, return_inverse=True)[1].ravel()
    of_run = _same_run(rows, vectors)
    first = _firsts(of_run)
    if len(first) == rows.n:
        return rows
    modes = [name for name, column in rows.labels.items() if not _constant(np.array(column), of_run)]
    running = [name for name, column in rows.within.items() if _constant(np.array(column), of_run)]
    targets = dict(_targets(rows, of_run, first, modes))
    note = f"{rows.n} rows hold {len(first)} runs: rows with the same counters are modes of one run, and are joined"
    return Rows(
        labels={name: _take(column, first) for name, column in rows.labels.items() if name not in modes},
        within={name: _take(rows.within[name], first) for name in running},
        counters={name: column[first] for name, column in rows.counters.items()},
        cycles=rows.cycles,
        frequency_ghz=None if rows.frequency_ghz is None else rows.frequency_ghz[first],
        targets=targets,
        notes=(*rows.notes, note),
    )


def _same_run(rows: Rows, vectors: Indices) -> Indices:
    """A number for each row, equal for rows of one run: one vector of counters, one frequency, one runtime."""
    keys: list[tuple[object, ...]] = []
    runtime = rows.targets.get(RUNTIME)
    for k in range(rows.n):
        frequency = None if rows.frequency_ghz is None else float(rows.frequency_ghz[k])
        seconds = None if runtime is None else str(runtime[k])
        keys.append((int(vectors[k]), frequency, seconds))
    numbers = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    return np.array([numbers[key] for key in keys])


def _targets(rows: Rows, of_run: Indices, first: Indices, modes: Sequence[str]) -> list[tuple[str, Array]]:
    """Targets that are the run's as they are; the others by mode (`throughput_readers`)."""
    found = []
    names = ["_".join(parts) for parts in zip(*(rows.labels[name] for name in modes), strict=True)]
    for target, column in rows.targets.items():
        if _constant(column, of_run) or not names:
            found.append((target, column[first]))
            continue
        for name in dict.fromkeys(names):
            values = np.full(len(first), np.nan)
            here = np.array([one == name for one in names])
            values[of_run[here]] = column[here]
            found.append((f"{target}_{name}", values))
    return found


def _per_cycle(rows: Rows) -> dict[str, Array]:
    """Counters divided by the cycles of their own run; as they are where cycles are not known."""
    if rows.cycles is None:
        return dict(rows.counters)
    cycles = np.where(rows.counters[rows.cycles] > 0, rows.counters[rows.cycles], np.nan)
    return {name: column / cycles for name, column in rows.counters.items() if name != rows.cycles}


def _merged(rows: Rows, rates: Mapping[str, Array], merge: Merge) -> Samples:
    unknown = not rows.cycles and rows.counters
    notes = (*rows.notes, "no total cycles: counters are taken as the rates they are") if unknown else rows.notes
    whole = Samples(
        labels=rows.labels,
        rates=rates,
        frequency_ghz=rows.frequency_ghz,
        targets=rows.targets,
        per_cycle=rows.cycles is not None,
        notes=notes,
    )
    of_cell = whole.groups(list(rows.labels)) if rows.labels else np.arange(rows.n)
    first = _firsts(of_cell)
    if merge == "none" or len(first) == rows.n:
        return whole
    cells = [np.flatnonzero(of_cell == k) for k in range(len(first))]
    if merge == "min_runtime":
        merged = {name: _of_fastest(rows, column, cells) for name, column in rates.items()}
        targets = {name: _of_fastest(rows, column, cells) for name, column in rows.targets.items()}
    else:
        merged = {name: _middle(column, cells, merge) for name, column in rates.items()}
        targets = {name: _middle(column, cells, merge) for name, column in rows.targets.items()}
    note = f"{rows.n} runs of {len(first)} configurations are merged ({merge})"
    return replace(whole.only(first), rates=merged, targets=targets, notes=(*notes, note))


def _of_fastest(rows: Rows, column: Array, cells: Sequence[Indices]) -> Array:
    """Of each cell, the value from the run with the smallest runtime among those that counted it."""
    runtime = rows.targets.get(RUNTIME, np.zeros(rows.n))
    chosen = []
    for cell in cells:
        counted = cell[np.isfinite(column[cell])]
        chosen.append(column[counted[np.argmin(runtime[counted])]] if len(counted) else np.nan)
    return np.array(chosen)


def _middle(column: Array, cells: Sequence[Indices], merge: Merge) -> Array:
    of = np.mean if merge == "mean" else np.median
    counted = [column[cell][np.isfinite(column[cell])] for cell in cells]
    return np.array([of(values) if len(values) else np.nan for values in counted])


def _constant(column: Array | Indices, groups: Indices) -> bool:
    """Does the column say one thing within each group? NaN is a thing to say."""
    firsts = column[_firsts(groups)][groups]
    same = column == firsts
    if column.dtype.kind == "f":
        same |= np.isnan(column) & np.isnan(firsts)
    return bool(np.all(same))


def _firsts(groups: Indices) -> Indices:
    """The first place of each group; groups are numbered in order of appearance."""
    return np.unique(groups, return_index=True)[1]


def _take(column: Sequence[str], places: Indices) -> tuple[str, ...]:
    return tuple(column[k] for k in places)
