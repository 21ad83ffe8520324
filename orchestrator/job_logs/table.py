"""A table of jobs, one a row: CSV, plain or gzipped. Cells are text; an empty cell is not known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite, nan
from pathlib import Path

import numpy as np

from analysis.arrays import Array
from orchestrator.contracts.errors import TableError
from orchestrator.contracts.tables import opened_rows

NOT_KNOWN = frozenset({"", "nan", "none", "null", "n/a", "na", "unknown"})


@dataclass(frozen=True, kw_only=True)
class JobTable:
    """The columns of a file, in its order."""

    path: Path
    columns: dict[str, tuple[str, ...]]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def first_of(self, names: Sequence[str]) -> str | None:
        """The first of these columns that the table has."""
        return next((name for name in names if name in self.columns), None)

    def text(self, name: str) -> tuple[str, ...]:
        """The cells of a column. Raises TableError where there is none."""
        if name not in self.columns:
            shown = ", ".join(list(self.columns)[:12])
            raise TableError(f"{self.path}: row 1: no column is named {name!r}; columns are {shown}, ...")
        return self.columns[name]

    def numbers(self, name: str) -> Array:
        """A column as numbers, NaN where a cell is not one. Raises TableError where there is no such column."""
        return np.array([_number(cell) for cell in self.text(name)])

    def seconds(self, name: str) -> Array:
        """A column of times, since 1970 in UTC: seconds, or ISO 8601. Raises TableError for anything else."""
        return np.array([self._instant(name, number, cell) for number, cell in enumerate(self.text(name), start=2)])

    def numeric(self) -> dict[str, Array]:
        """The columns that hold numbers and nothing else but empty cells."""
        found = {}
        for name, cells in self.columns.items():
            values = self.numbers(name)
            others = np.flatnonzero(~np.isfinite(values))
            if len(others) < len(values) and all(cells[place].strip().lower() in NOT_KNOWN for place in others):
                found[name] = values
        return found

    def _instant(self, name: str, number: int, cell: str) -> float:
        if cell.strip().lower() in NOT_KNOWN:
            return nan
        value = _number(cell)
        if isfinite(value):
            return value
        try:
            told = datetime.fromisoformat(cell.strip())
        except ValueError:
            raise TableError(f"{self.path}: row {number}, column {name!r}: {cell!r} is not a time") from None
        return (told if told.tzinfo else told.replace(tzinfo=UTC)).timestamp()


def as_jobs_table(rows: Sequence[Mapping[str, object]], *, name: str) -> JobTable:
    """Rows that were never a file, as the same rows written and read; `name` stands in messages."""
    names = dict.fromkeys(column for row in rows for column in row)
    return JobTable(
        path=Path(name), columns={column: tuple(str(row.get(column, "")) for row in rows) for column in names}
    )


def read_jobs_table(path: Path) -> JobTable:
    """Read a file. A leading column without a name (an index) is passed over, whether the header has it or not.

    Raises TableError.
    """
    with opened_rows(path) as (header, rows):
        names = [name.strip() for name in header]
        cells = _of_width(path, names, rows)
    if not cells:
        raise TableError(f"{path}: there are no jobs below the header")
    found = dict(zip(names, zip(*cells, strict=True), strict=True))
    return JobTable(path=path, columns={name: tuple(column) for name, column in found.items() if name})


def _of_width(path: Path, names: list[str], rows: Iterator[tuple[int, list[str]]]) -> list[list[str]]:
    found = []
    for number, row in rows:
        if len(row) == len(names) + 1 and names[:1] != [""]:
            row = row[1:]  # noqa: PLW2901 - pandas wrote its index without a name in the header
        if len(row) != len(names):
            raise TableError(f"{path}: row {number}: {len(row)} columns, but the header has {len(names)}")
        found.append(row)
    return found


def _number(cell: str) -> float:
    try:
        value = float(cell) if "_" not in cell else nan
    except ValueError:
        return nan
    return value if isfinite(value) else nan
