"""Values out of a CSV file, wide or long, by a mapping."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from orchestrator.contracts import tables
from orchestrator.contracts.designs import Level
from orchestrator.contracts.errors import UserError
from orchestrator.design.factorial import check_factor_names
from orchestrator.design.parts import nearest
from orchestrator.imports import mapping
from orchestrator.imports.mapping import Factor
from orchestrator.imports.values import NODE, Found, Skipped

NODE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
BAD_NODE = "the node's name has other signs than letters, digits, dots and hyphens"
BAD_MODE = "the mode is no name"


@dataclass(frozen=True, kw_only=True, slots=True)
class Columns:
    """Which place in a row is what."""

    factors: tuple[tuple[int, Factor], ...]
    constants: tuple[tuple[str, Level], ...]
    roles: Mapping[str, int]
    """Role -> place."""
    values: tuple[int, ...]
    """One in a long table."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the factors, in order."""
        return (*(factor.name for _, factor in self.factors), *(name for name, _ in self.constants))


def columns_of(path: Path, header: Sequence[str], wanted: mapping.Mapping) -> Columns:
    """What the mapping, or else custom, makes of a header. Raises UserError."""
    first = tables.first_of_block(header) if wanted.value.column is None else None
    roles = {role: place for role in mapping.USUAL_COLUMNS if (place := _place(path, header, role, wanted)) is not None}
    value = roles.pop("value", None)
    if value is None and first is None:
        raise UserError(
            f"{path}: no column is called {' or '.join(mapping.USUAL_COLUMNS['value'])}; name it in a mapping"
        )
    if "mode" not in roles and wanted.mode.constant is None:
        raise UserError(f"{path}: no column 'mode'; a mapping names it (`mode: COLUMN`), or the one that all are of")
    values = (value,) if value is not None else tuple(range(first or 0, len(header)))
    taken = {*roles.values(), *values}
    factors = _factors(path, header, taken, wanted)
    return Columns(factors=factors, constants=tuple(wanted.constants.items()), roles=roles, values=values)


def read(path: Path, wanted: mapping.Mapping, skipped: Skipped) -> tuple[tuple[str, ...], list[Found]]:
    """Factor names, and every value in the order of the file (a wide row at a time). Raises UserError."""
    with tables.opened_rows(path) as (header, rows):
        columns = columns_of(path, header, wanted)
        reader = _Rows(path=path, header=header, columns=columns, mapping=wanted, skipped=skipped)
        found = [one for number, row in rows for one in reader.found_in(number, row)]
    return columns.names, found


def _place(path: Path, header: Sequence[str], role: str, wanted: mapping.Mapping) -> int | None:
    named = wanted.column_of(role)
    if named is not None:
        if named not in header:
            raise UserError(f"{path}: {role}: no column is named {named!r}{nearest(named, header[:50])}")
        return header.index(named)
    if role == "mode" and wanted.mode.constant is not None:
        return None
    lower = [name.strip().lower() for name in header]
    usual = (name for name in mapping.USUAL_COLUMNS[role] if name in lower and not _is_mapped(name, wanted))
    return next((lower.index(name) for name in usual), None)


def _is_mapped(name: str, wanted: mapping.Mapping) -> bool:
    return name in (wanted.factors or {}) or name in wanted.ignore


def _factors(
    path: Path, header: Sequence[str], taken: set[int], wanted: mapping.Mapping
) -> tuple[tuple[int, Factor], ...]:
    if wanted.factors is not None:
        for column in wanted.factors:
            if column not in header:
                raise UserError(f"{path}: factors: no column is named {column!r}{nearest(column, header[:50])}")
        return tuple((header.index(column), factor) for column, factor in wanted.factors.items())
    ignored = {*mapping.IGNORED_COLUMNS, *wanted.ignore}
    left = [(place, name) for place, name in enumerate(header) if place not in taken and name not in ignored]
    try:
        check_factor_names(name for _, name in left)
    except ValueError as error:
        raise UserError(f"{path}: {error}; name your factors in a mapping, or `ignore` the column") from None
    return tuple((place, Factor(name=name)) for place, name in left)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Rows:
    """Reads one row after the other."""

    path: Path
    header: Sequence[str]
    columns: Columns
    mapping: mapping.Mapping
    skipped: Skipped

    def found_in(self, number: int, row: Sequence[str]) -> Iterator[Found]:
        """The values of a row; none where something of it cannot be used, which is then counted."""
        place = f"{self.path.name} row {number}"
        if len(row) != len(self.header):
            self.skipped.add(f"{'fewer' if len(row) < len(self.header) else 'more'} cells than the header", place)
            return
        try:
            shared = self._shared(row)
        except ValueError as problem:
            self.skipped.add(str(problem), place)
            return
        for column in self.columns.values:
            cell = row[column].strip()
            value = _number(cell)
            if cell and value is None:
                self.skipped.add("a value that is no finite number", f"{place}, column {self.header[column]!r}")
            elif value is not None:
                yield replace(shared, value=value * self.mapping.value.times)
            elif len(self.columns.values) == 1 and not shared.valid:
                yield shared
            elif len(self.columns.values) == 1:
                self.skipped.add("no value", place)

    def _shared(self, row: Sequence[str]) -> Found:
        """What all values of a row have in common. Raises ValueError."""
        told = {role: row[place].strip() for role, place in self.columns.roles.items()}
        node = told.get("node") or NODE
        if not NODE_NAME.fullmatch(node):
            raise ValueError(BAD_NODE)
        valid = not told.get("valid") or told["valid"] in _counting(self.mapping)
        return Found(
            levels=self._levels(row),
            mode=self._mode(told),
            value=None,
            node=node,
            job=told.get("job", ""),
            replicate=told.get("replicate", ""),
            started_at=as_time(told["time"]) if told.get("time") else None,
            elapsed_s=_number(told.get("elapsed", "")),
            valid=valid,
            reason=None if valid else told.get("reason") or f"marked {told['valid']!r}",
        )

    def _levels(self, row: Sequence[str]) -> tuple[Level, ...]:
        levels = [mapping.as_level(row[place].strip(), factor.times) for place, factor in self.columns.factors]
        for (_, factor), level in zip(self.columns.factors, levels, strict=True):
            if level == "":
                raise ValueError(f"no level of {factor.name}")
        return (*levels, *(level for _, level in self.columns.constants))

    def _mode(self, told: Mapping[str, str]) -> str:
        mode = self.mapping.mode.constant or mapping.as_mode(told["mode"], self.mapping.mode)
        if mode is None:
            raise ValueError(BAD_MODE)
        return mode


def _counting(wanted: mapping.Mapping) -> tuple[str, ...]:
    return (wanted.valid or mapping.Validity(column="valid")).values


def as_time(text: str) -> float:
    """Seconds since the epoch: such a number, or ISO 8601, UTC where it names no zone. Raises ValueError."""
    number = _number(text)
    if number is not None:
        return number
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("the time is neither ISO 8601 nor seconds since 1970") from None
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()


def _number(cell: str) -> float | None:
    try:
        number = float(cell) if "_" not in cell else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None
