"""Archives: a campaign's rows in files, and the page that describes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """What a column holds, and how its values are written: a value that is read back is the same to the bit."""

    INTEGER = "integer"
    NUMBER = "number"
    """64-bit floating point; 32-bit numbers fit into it as they are."""
    TEXT = "text"
    BOOLEAN = "boolean"
    BYTES = "bytes"
    UUID = "uuid"
    """As text."""
    JSON = "json"
    """As the text that the database writes: its numbers have any number of digits."""
    TIME = "time"
    """Microseconds since the epoch, UTC."""
    INTEGERS = "integers"
    NUMBERS = "numbers"
    TEXTS = "texts"


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """One column of a table."""

    name: str
    kind: Kind


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """A table's name and columns, in the order of its rows' values."""

    name: str
    columns: tuple[Column, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One table of an archive: what its file must hold."""

    table: Table
    rows: int
    values_sha256: str
    """Of every value in order (`archive.digest`): equal in the file and in the ledger."""
    file_sha256: str

    def as_dict(self) -> dict[str, Any]:
        """JSON-able."""
        columns = {column.name: str(column.kind) for column in self.table.columns}
        return {
            "rows": self.rows,
            "columns": columns,
            "values_sha256": self.values_sha256,
            "file_sha256": self.file_sha256,
        }

    @classmethod
    def from_dict(cls, name: str, record: Mapping[str, Any]) -> Part:
        """The inverse of `as_dict`. Raises KeyError or ValueError for anything else."""
        columns = tuple(Column(name=column, kind=Kind(kind)) for column, kind in record["columns"].items())
        return cls(
            table=Table(name=name, columns=columns),
            rows=int(record["rows"]),
            values_sha256=str(record["values_sha256"]),
            file_sha256=str(record["file_sha256"]),
        )
