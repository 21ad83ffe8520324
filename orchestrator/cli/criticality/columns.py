"""A long table as arrivals and counters: one row a rank and collective, or several with what was measured then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from orchestrator.contracts.errors import TableError
from orchestrator.contracts.tables import RUN_COLUMNS, opened_rows

if TYPE_CHECKING:
    from analysis.arrays import Array, Indices
    from analysis.criticality import Samples, Trace

ROWS_AT_A_TIME = 100_000
SAMPLE_TIME = "sample_s"
VALID = "valid"
Clock = Literal["arrival", "slack", "duration", "throughput"]
CLOCKS: dict[str, Clock] = {"arrival_s": "arrival", "slack_s": "slack", "duration_s": "duration"}


@dataclass(frozen=True, kw_only=True)
class Columns:
    """What the columns of a table mean; None: by their usual names."""

    collective: tuple[str, ...] | None = None
    rank: str = "rank"
    setting: tuple[str, ...] | None = None
    throughput: str | None = None
    """Instead of a time: a round took work / throughput."""
    work: tuple[str, ...] = ()
    """Columns whose product is the work of a round."""
    consecutive: int | None = None
    """So many consecutive values of the rank column are the ranks of one collective."""
    in_order: bool = False
    """The k-th valid row of each rank in a setting is its round k: runs of a campaign, which share no replicate."""
    counters: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class _Chosen:
    """The places of a table's columns."""

    collective: list[int]
    rank: int
    setting: list[int]
    time: int
    clock: Clock
    work: list[int]
    counters: list[int]
    sample_time: int | None
    valid: int | None
    """Where rows are told to count or not; None: all of them do."""


class _Codes(dict[str, int]):
    """Text -> a number, counted up as texts appear."""

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self)
        return number


def read(path: Path, columns: Columns, *, with_counters: bool) -> tuple[Trace, Samples | None]:
    """The trace, and the counters of its samples where there are any. Raises `TableError`."""
    with opened_rows(path) as (header, rows):
        names = [name.strip() for name in header]
        first = next(rows, None)
        if first is None:
            raise TableError(f"{path}: there are no values below the header")
        chosen = _chosen(path, names, first[1], columns, with_counters=with_counters)
        reader = _Reader(path, names, chosen)
        if reader.add_numbers(first[1]):
            return reader.finished(columns)
        reader.add([first])
        while part := list(islice(rows, ROWS_AT_A_TIME)):
            reader.add(part)
    return reader.finished(columns)


def _chosen(path: Path, names: list[str], first: list[str], columns: Columns, *, with_counters: bool) -> _Chosen:
    def place(name: str) -> int:
        if name not in names:
            raise TableError(f"{path}: row 1: no column is named {name!r}; columns are {', '.join(names[:20])}")
        return names.index(name)

    setting = columns.setting
    if setting is None:
        setting = tuple(name for name in ("setting", "application") if name in names)
    numbered = columns.consecutive is not None or columns.in_order
    collective = () if numbered else columns.collective or ("collective",)
    time, clock = _clock(path, names, columns)
    used = {*setting, *collective, *columns.work, columns.rank, time, SAMPLE_TIME}
    counters: Sequence[str] = ()
    if with_counters and columns.counters is not None:
        counters = columns.counters
    elif with_counters:
        counters = [
            name
            for name, cell in zip(names, first, strict=False)
            if name not in used and name.lower() not in RUN_COLUMNS and name not in CLOCKS and _is_number(cell)
        ]
    return _Chosen(
        collective=[place(name) for name in collective],
        rank=place(columns.rank),
        setting=[place(name) for name in setting],
        time=place(time),
        clock=clock,
        work=[place(name) for name in columns.work],
        counters=[place(name) for name in counters],
        sample_time=names.index(SAMPLE_TIME) if with_counters and SAMPLE_TIME in names else None,
        valid=names.index(VALID) if columns.in_order and VALID in names else None,
    )


def _clock(path: Path, names: list[str], columns: Columns) -> tuple[str, Clock]:
    if columns.throughput is not None:
        return columns.throughput, "throughput"
    found = next((name for name in CLOCKS if name in names), None)
    if found is None:
        raise TableError(
            f"{path}: row 1: a column arrival_s, slack_s or duration_s is needed (seconds), or --throughput with --work"
        )
    return found, CLOCKS[found]


def _is_number(cell: str) -> bool:
    try:
        float(cell or "0")
    except ValueError:
        return False
    return True


class _Reader:
    """Rows in parts, so that only numbers are kept of a long file."""

    def __init__(self, path: Path, names: list[str], chosen: _Chosen) -> None:
        self.path, self.names, self.chosen = path, names, chosen
        self.settings, self.collectives, self.ranks = _Codes(), _Codes(), _Codes()
        self.parts: list[tuple[Indices, Indices, Indices, Array, Array]] = []

    def add_numbers(self, first: list[str]) -> bool:
        """Read the whole file at once where all that is wanted are numbers: a tenth of the time of row by row.

        False, with nothing read, where anything is not: row by row, every kind of cell has its place or its message.
        """
        import numpy as np

        keys = [*self.chosen.collective, self.chosen.rank]
        if self.chosen.setting or len(keys) != 2 or not all(first[place].isdigit() for place in keys):
            return False
        wanted = [*keys, self.chosen.time, *self.chosen.work, *self.chosen.counters]
        wanted += [] if self.chosen.sample_time is None else [self.chosen.sample_time]
        try:
            read = np.loadtxt(self.path, delimiter=",", skiprows=1, usecols=wanted, comments=None, ndmin=2)
        except ValueError:
            return False
        if not np.all(np.isfinite(read)) or np.any(read[:, :2] != np.floor(read[:, :2])):
            return False
        time = read[:, 2]
        if self.chosen.clock == "throughput" and np.any(time <= 0):
            return False
        behind = 3 + len(self.chosen.work)
        work = np.prod(read[:, 3:behind], axis=1)
        by_clock = {"slack": -time, "throughput": work / time if self.chosen.clock == "throughput" else time}
        settings = np.full(len(read), self.settings[""], dtype=np.int64)
        collectives, ranks = (
            _numbered(codes, read[:, place]) for place, codes in enumerate((self.collectives, self.ranks))
        )
        values = np.ascontiguousarray(read[:, behind:])
        self.parts.append((settings, collectives, ranks, by_clock.get(self.chosen.clock, time).copy(), values))
        return True

    def add(self, rows: list[tuple[int, list[str]]]) -> None:
        import numpy as np

        numbers = [number for number, _ in rows]
        cells = [row for _, row in rows]
        if len(set(map(len, cells)) | {len(self.names)}) > 1:
            wrong = next(k for k, row in enumerate(cells) if len(row) != len(self.names))
            raise TableError(
                f"{self.path}: row {numbers[wrong]}: {len(cells[wrong])} columns, but the header has {len(self.names)}"
            )
        if self.chosen.valid is not None:
            counted = [k for k, row in enumerate(cells) if row[self.chosen.valid].lower() in ("true", "1")]
            numbers, cells = [numbers[k] for k in counted], [cells[k] for k in counted]
            if not cells:
                return
        by_column = list(zip(*cells, strict=True))
        values = [self._numbers(by_column, numbers, place) for place in self.chosen.counters]
        if self.chosen.sample_time is not None:
            values.append(self._numbers(by_column, numbers, self.chosen.sample_time))
        self.parts.append(
            (
                self._coded(self.settings, by_column, self.chosen.setting, len(cells)),
                self._coded(self.collectives, by_column, self.chosen.collective, len(cells)),
                self._coded(self.ranks, by_column, [self.chosen.rank], len(cells)),
                self._time_s(by_column, numbers),
                np.stack(values, axis=1) if values else np.empty((len(cells), 0)),
            )
        )

    def _coded(self, codes: _Codes, by_column: list[tuple[str, ...]], places: list[int], count: int) -> Indices:
        import numpy as np

        if not places:
            return np.full(count, codes[""], dtype=np.int64)
        texts: Iterator[str] | tuple[str, ...] = by_column[places[0]]
        if len(places) > 1:
            texts = map("/".join, zip(*(by_column[place] for place in places), strict=True))
        return np.fromiter(map(codes.__getitem__, texts), dtype=np.int64, count=count)

    def _time_s(self, by_column: list[tuple[str, ...]], numbers: list[int]) -> Array:
        import numpy as np

        time = self._numbers(by_column, numbers, self.chosen.time)
        if np.any(np.isnan(time)):
            self._refuse(by_column, numbers, self.chosen.time, int(np.flatnonzero(np.isnan(time))[0]))
        if self.chosen.clock == "slack":
            return -time
        if self.chosen.clock == "throughput":
            if np.any(time <= 0):
                self._refuse(by_column, numbers, self.chosen.time, int(np.flatnonzero(time <= 0)[0]))
            work = np.ones(len(time))
            for place in self.chosen.work:
                work *= self._numbers(by_column, numbers, place)
            return np.asarray(work / time)
        return time

    def _numbers(self, by_column: list[tuple[str, ...]], numbers: list[int], place: int) -> Array:
        """The numbers of a column; nan where a cell is empty."""
        import numpy as np

        column = by_column[place]
        try:
            found = np.array(column, dtype=np.float64) if "" not in column else None
        except ValueError:
            found = None
        if found is None:
            wrong = next((k for k, cell in enumerate(column) if not _is_number(cell)), None)
            if wrong is not None:
                self._refuse(by_column, numbers, place, wrong)
            found = np.array([float(cell) if cell else np.nan for cell in column])
        if np.any(np.isinf(found)):
            self._refuse(by_column, numbers, place, int(np.flatnonzero(np.isinf(found))[0]))
        return found

    def _refuse(self, by_column: list[tuple[str, ...]], numbers: list[int], place: int, wrong: int) -> None:
        cell = by_column[place][wrong]
        raise TableError(
            f"{self.path}: row {numbers[wrong]}, column {self.names[place]!r}: {cell!r} is not a number to use here"
        )

    def finished(self, columns: Columns) -> tuple[Trace, Samples | None]:
        import numpy as np

        from analysis.criticality import Samples, Trace

        if not self.parts:
            raise TableError(f"{self.path}: no row counts: in column {VALID!r} none is true")
        setting, collective, rank, time_s, values = (
            np.concatenate([part[place] for part in self.parts]) for place in range(5)
        )
        self.parts.clear()
        ranks, rank = _ordered(self.ranks, rank)
        if columns.consecutive is not None:
            collective, rank = rank // columns.consecutive, rank % columns.consecutive
            collectives = tuple(str(number) for number in range(int(collective.max()) + 1))
            ranks = tuple(str(number) for number in range(min(columns.consecutive, len(ranks))))
        elif columns.in_order:
            collective = _nth(setting * len(ranks) + rank)
            collectives = tuple(str(number) for number in range(int(collective.max()) + 1))
        else:
            collectives, collective = _ordered(self.collectives, collective)
        settings = tuple(self.settings)
        row, of_setting, names = _rounds(setting, collective, collectives)
        arrival_s = np.full((len(of_setting), len(ranks)), np.nan)
        arrival_s[row, rank] = time_s
        if np.any(arrival_s[row, rank] != time_s):
            wrong = int(np.flatnonzero(arrival_s[row, rank] != time_s)[0])
            raise TableError(
                f"{self.path}: rank {ranks[rank[wrong]]!r} reaches collective {names[row[wrong]]!r} at two different "
                "times: name what tells collectives apart with --collective, and --setting where there are several; or "
                "count each rank's rows with --in-order"
            )
        clock = self.chosen.clock
        trace = Trace(
            settings=settings if settings != ("",) else ("all",),
            collectives=names,
            ranks=ranks,
            setting_of=of_setting,
            arrival_s=arrival_s,
            is_slack=clock == "slack",
            starts_together=clock in ("duration", "throughput"),
        )
        counters = tuple(self.names[place] for place in self.chosen.counters)
        if not counters:
            return trace, None
        taken_s = values[:, -1] if self.chosen.sample_time is not None else None
        return trace, Samples(
            names=counters, values=values[:, : len(counters)], collective=row, rank=rank, taken_s=taken_s
        )


def _ordered(codes: _Codes, numbers: Indices) -> tuple[tuple[str, ...], Indices]:
    """Names in the order of numbers where all are numbers, else as they appeared; and the new codes."""
    import numpy as np

    names = list(codes)
    if not all(map(_is_number, names)):
        return tuple(names), numbers
    order = np.argsort([float(name or "0") for name in names], kind="stable")
    places = np.empty(len(names), dtype=np.int64)
    places[order] = np.arange(len(names))
    return tuple(names[place] for place in order), places[numbers]


def _nth(keys: Indices) -> Indices:
    """How many earlier rows have the same key."""
    import numpy as np

    order = np.argsort(keys, kind="stable")
    starts = np.concatenate([[True], np.diff(keys[order]) != 0])
    place = np.arange(len(keys))
    earlier = np.empty(len(keys), dtype=np.int64)
    earlier[order] = place - np.maximum.accumulate(np.where(starts, place, 0))
    return earlier


def _numbered(codes: _Codes, numbers: Array) -> Indices:
    """The code of each whole number; its text becomes a name."""
    import numpy as np

    found, coded = np.unique(numbers, return_inverse=True)
    for number in found.tolist():
        codes[str(int(number))]
    return np.asarray(coded, dtype=np.int64)


def _rounds(
    setting: Indices, collective: Indices, collectives: tuple[str, ...]
) -> tuple[Indices, Indices, tuple[str, ...]]:
    """The row of each sample, and the setting and name of each row: only pairs that occur have one."""
    import numpy as np

    pair = setting * len(collectives) + collective
    occurs = np.zeros((int(setting.max()) + 1) * len(collectives), dtype=bool)
    occurs[pair] = True
    pairs = np.flatnonzero(occurs)
    rows = np.cumsum(occurs) - 1
    return rows[pair], pairs // len(collectives), tuple(collectives[place % len(collectives)] for place in pairs)
