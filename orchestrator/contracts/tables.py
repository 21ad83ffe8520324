"""The one way in for numbers: samples with labels, from CSV, plain or gzipped.

*Wide*: label columns, then the trailing block of columns that share one stem and end in consecutive numbers (`t1`,
`throughput 1`); empty cells are allowed. *Long*: a `throughput` column, one run a row; the labels are all other
columns but an unnamed index and the columns that number or time the runs. Labels are kept as text, in order.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TextIO

from orchestrator.contracts.errors import TableError

VALUE_COLUMNS = ("throughput", "throughput_kbps")
RUN_COLUMNS = frozenset({"", "iter", "subiter", "replicate", "runtime", "time"})
NUMBERED = re.compile(r"(.*?)(\d+)")


@dataclass(frozen=True, kw_only=True)
class LabelledSample:
    """The values of one configuration, in the order of the file, and the text of its labels."""

    labels: tuple[str, ...]
    values: Sequence[float]


@dataclass(frozen=True, kw_only=True)
class Table:
    """The samples of a file, in its order; every sample's `labels` belong to `label_names`."""

    label_names: tuple[str, ...]
    samples: tuple[LabelledSample, ...]


def read_table(path: Path, labels: Sequence[str] | None = None, *, value: str | None = None) -> Table:
    """Read a wide or long CSV file; `labels` overrides which columns are labels, `value` which one holds the values.

    Raises `TableError`, which names file, row (the header is row 1) and column.
    """
    with _opened(path) as stream:
        rows = _rows(path, stream)
        header = next(rows, (1, []))[1]
        _check_header(path, header)
        first = first_of_block(header)
        values = _value_column(path, header, value)
        if values is not None:
            return _read_long(path, header, rows, values, labels)
        if first is not None:
            return _read_wide(path, header, rows, first, labels)
    raise TableError(
        f"{path}: row 1: neither a column 'throughput' (one run a row; --value names another) nor, at the end of the "
        "header, columns with one name and consecutive numbers (t1,t2,...; one configuration a row)"
    )


def read_columns(path: Path, names: Sequence[str]) -> dict[str, array[float]]:
    """The numbers of the named columns of a CSV file; others are passed over. Raises `TableError`."""
    with _opened(path) as stream:
        rows = _rows(path, stream)
        header = [name.strip() for name in next(rows, (1, []))[1]]
        _check_header(path, header)
        missing = [name for name in names if name not in header]
        if missing:
            raise TableError(f"{path}: row 1: no column is named {missing[0]!r}; needed are {', '.join(names)}")
        places = [header.index(name) for name in names]
        columns = {name: array("d") for name in names}
        for number, row in rows:
            _check_width(path, header, number, row)
            for name, place in zip(names, places, strict=True):
                columns[name].append(_number(path, number, name, row[place]))
    return columns


@contextmanager
def opened_rows(path: Path) -> Iterator[tuple[list[str], Iterator[tuple[int, list[str]]]]]:
    """The column names of a CSV file, and its rows with their numbers (the header is row 1). Raises `TableError`."""
    with _opened(path) as stream:
        rows = _rows(path, stream)
        header = next(rows, (1, []))[1]
        _check_header(path, header)
        yield header, rows


def read_cells(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """The column names of a CSV file, and its rows as text by column. Raises `TableError`."""
    with opened_rows(path) as (header, rows):
        found = []
        for number, row in rows:
            _check_width(path, header, number, row)
            found.append(dict(zip(header, row, strict=True)))
    if not found:
        raise TableError(f"{path}: there are no values below the header")
    return header, found


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    """The text of a file; what can go wrong while it is read becomes a `TableError`."""
    try:
        with (
            gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as raw,
            io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as stream,
        ):
            yield stream
    except UnicodeDecodeError as error:
        raise TableError(f"{path}: not a text file in UTF-8 ({error.reason} at byte {error.start})") from error
    except (OSError, EOFError, zlib.error) as error:
        raise TableError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error


def _rows(path: Path, stream: TextIO) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, with their number in the file."""
    reader = csv.reader(stream, strict=True)
    try:
        for row in reader:
            if any(row):
                yield reader.line_num, row
    except csv.Error as error:
        raise TableError(f"{path}: row {reader.line_num}: {error}") from error


def _check_header(path: Path, header: list[str]) -> None:
    if not header:
        raise TableError(f"{path}: the file is empty: a header and rows are needed")
    twice = [name for name, count in Counter(header).items() if count > 1 and name]
    if twice:
        raise TableError(f"{path}: row 1: two columns are named {twice[0]!r}")


def _value_column(path: Path, header: list[str], wanted: str | None) -> int | None:
    """Where the values of a long table are; None in a wide one."""
    if wanted is not None:
        return _label_columns(path, header, [wanted], [], banned=[])[0]
    names = [name.strip().lower() for name in header]
    return next((names.index(name) for name in VALUE_COLUMNS if name in names), None)


def first_of_block(header: Sequence[str]) -> int | None:
    """Where the trailing block of numbered columns begins; None when the last two columns are not numbered."""
    matches = [NUMBERED.fullmatch(name) for name in header]
    first = len(header)
    following: tuple[str, int] | None = None
    for place in range(len(header) - 1, -1, -1):
        match = matches[place]
        if match is None or (following is not None and following != (match[1], int(match[2]) + 1)):
            break
        following, first = (match[1], int(match[2])), place
    return first if len(header) - first >= 2 else None


def _read_wide(
    path: Path, header: list[str], rows: Iterator[tuple[int, list[str]]], first: int, labels: Sequence[str] | None
) -> Table:
    chosen = _label_columns(path, header, labels, list(range(first)), banned=range(first, len(header)))
    samples = []
    for number, row in rows:
        _check_width(path, header, number, row)
        cells = enumerate(row[first:], start=first)
        values = array("d", (_number(path, number, header[place], cell) for place, cell in cells if cell.strip()))
        samples.append(LabelledSample(labels=tuple(row[place] for place in chosen), values=values))
    _check_any(path, samples)
    return Table(label_names=tuple(header[place] for place in chosen), samples=tuple(samples))


def _read_long(
    path: Path, header: list[str], rows: Iterator[tuple[int, list[str]]], value: int, labels: Sequence[str] | None
) -> Table:
    others = [place for place in range(len(header)) if place != value]
    default = [place for place in others if header[place].strip().lower() not in RUN_COLUMNS]
    chosen = _label_columns(path, header, labels, default, banned=[value])
    groups: dict[tuple[str, ...], array[float]] = {}
    distinct: list[set[str]] = [set() for _ in header]
    for number, row in rows:
        _check_width(path, header, number, row)
        if row[value].strip():
            key = tuple(row[place] for place in chosen)
            groups.setdefault(key, array("d")).append(_number(path, number, header[value], row[value]))
            for place in chosen:
                distinct[place].add(row[place])
    samples = [LabelledSample(labels=key, values=values) for key, values in groups.items()]
    _check_any(path, samples)
    if 2 * sum(len(sample.values) == 1 for sample in samples) > len(samples):
        raise TableError(_groups_of_one(path, header, chosen, distinct, sum(len(s.values) for s in samples)))
    return Table(label_names=tuple(header[place] for place in chosen), samples=tuple(samples))


def _label_columns(
    path: Path, header: list[str], labels: Sequence[str] | None, default: list[int], banned: Sequence[int]
) -> list[int]:
    if labels is None:
        return default
    for name in labels:
        if name not in header:
            raise TableError(f"{path}: row 1: no column is named {name!r}; columns are {_listed(header)}")
        if header.index(name) in banned:
            raise TableError(f"{path}: row 1: column {name!r} holds values and cannot be a label")
    return [header.index(name) for name in labels]


def _groups_of_one(path: Path, header: list[str], chosen: list[int], distinct: list[set[str]], runs: int) -> str:
    """Propose the columns that could tell configurations apart: those with few values for the number of runs."""
    few = [header[place] for place in chosen if len(distinct[place]) <= max(1, min(runs // 10, 1000))]
    proposal = f"name the labels, as in --labels {','.join(few)}" if few else "name the labels with --labels"
    return (
        f"{path}: with the labels {_listed([header[place] for place in chosen])} most groups hold one run: {proposal}"
    )


def _check_width(path: Path, header: list[str], number: int, row: list[str]) -> None:
    if len(row) < len(header):
        raise TableError(f"{path}: row {number}: ends before column {header[len(row)]!r}; the header has {len(header)}")
    if len(row) > len(header):
        raise TableError(f"{path}: row {number}: {len(row)} columns, but the header ends at {header[-1]!r}")


def _check_any(path: Path, samples: Sequence[LabelledSample]) -> None:
    if not any(len(sample.values) for sample in samples):
        raise TableError(f"{path}: there are no values below the header")


def _number(path: Path, number: int, column: str, cell: str) -> float:
    try:
        value = float(cell) if "_" not in cell else None
    except ValueError:
        value = None
    if value is None or not isfinite(value):
        raise TableError(f"{path}: row {number}, column {column!r}: {cell.strip()!r} is not a finite number")
    return value


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(name or "(unnamed)" for name in names[:12])
    return f"{shown}, ..." if len(names) > 12 else shown
