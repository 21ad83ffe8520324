"""Samples of a long CSV file with what is known about each run, explained one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis import attribution, mixture
from analysis.attribution import Explanation, Runs
from orchestrator.contracts.errors import TableError
from orchestrator.contracts.tables import RUN_COLUMNS, VALUE_COLUMNS, read_cells

Row = Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Columns:
    """Which column says what; those that the file has not are not known."""

    labels: tuple[str, ...]
    node: str
    job: str
    session: str
    order: str

    @property
    def places(self) -> frozenset[str]:
        """Those that are no circumstance."""
        return frozenset({*self.labels, self.node, self.job, self.session, self.order})


def explanations(
    path: Path, columns: Columns, *, discard: int, unit: str
) -> Iterator[tuple[dict[str, str], Explanation]]:
    """Labels and explanation of every configuration, in the order of the file.

    Raises TableError for a file without values, and AnalysisError where a sample cannot be fitted.
    """
    header, rows = read_cells(path)
    value = next((name for name in header if name.strip().lower() in VALUE_COLUMNS), None)
    missing = [name for name in columns.labels if name not in header]
    if value is None or missing:
        raise TableError(f"{path}: row 1: no column is named {missing[0] if missing else 'throughput'!r}")
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in columns.labels), []).append(row)
    circumstances = [
        name for name in header
        if name != value and name not in columns.places and name.strip().lower() not in RUN_COLUMNS
    ]  # fmt: skip
    options = mixture.Options()
    for labels, members in groups.items():
        runs = _runs(path, members, columns, value, circumstances).without_warm_up(discard)
        selection = mixture.select(runs.values, options=options)
        rng = np.random.default_rng(options.seed)
        found = attribution.explain(runs, selection, options=options, rng=rng, unit=unit)
        yield dict(zip(columns.labels, labels, strict=True)), found


def _runs(path: Path, rows: Sequence[Row], columns: Columns, value: str, circumstances: Sequence[str]) -> Runs:
    known = rows[0].keys()
    if columns.order in known:
        rows = sorted(rows, key=lambda row: (_number(row[columns.order], otherwise=np.inf), row[columns.order]))
    values = np.array([_number(row[value], otherwise=np.nan) for row in rows])
    if not np.all(np.isfinite(values)):
        place = int(np.flatnonzero(~np.isfinite(values))[0])
        raise TableError(f"{path}: column {value!r}: {rows[place][value]!r} is not a finite number")
    told = {name: [row[name] for row in rows] for name in circumstances}
    numbers = {name: np.array([_number(cell, otherwise=np.nan) for cell in cells]) for name, cells in told.items()}
    numeric = {name for name, cells in told.items() if all(np.isfinite(numbers[name]) | (np.array(cells) == ""))}
    nodes, jobs, sessions = (
        tuple(row[name] for row in rows) if name in known else ()
        for name in (columns.node, columns.job, columns.session)
    )
    return Runs(
        values=values,
        nodes=nodes,
        jobs=jobs,
        sessions=sessions,
        numbers={name: numbers[name] for name in circumstances if name in numeric},
        words={name: tuple(told[name]) for name in circumstances if name not in numeric},
    )


def _number(cell: str, *, otherwise: float) -> float:
    try:
        return float(cell)
    except ValueError:
        return otherwise
