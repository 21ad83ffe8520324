"""Rows in Parquet files, written and read a batch at a time."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.contracts.archives import Kind, Table
from orchestrator.contracts.errors import ConflictError, missing_extra

if TYPE_CHECKING:
    import pyarrow

ROWS_A_GROUP = 20_000
"""Of a Parquet file: what a reader must hold at least."""


def require() -> None:
    """Raise MissingPartError where pyarrow is not installed: it is as big as a third of everything else."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise missing_extra("archives need pyarrow", "archive") from None


def write(path: Path, table: Table, batches: Iterable[Sequence[tuple[Any, ...]]]) -> str:
    """Write rows into a new file that is safe on the disk on return; the SHA-256 of the file."""
    from pyarrow import parquet

    schema = _schema(table)
    with path.open("wb") as file:
        with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
            for group in _grouped(batches):
                writer.write_batch(_record_batch(schema, group))
        file.flush()
        os.fsync(file.fileno())
    return sha256(path)


def read(path: Path, table: Table) -> Iterator[list[tuple[Any, ...]]]:
    """The rows of a file of `write`. Raises ConflictError when it has other columns."""
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        if not file.schema_arrow.equals(_schema(table)):
            raise ConflictError(f"{path}: its columns are not those that its description names")
        for batch in file.iter_batches(batch_size=2000):
            columns = [_plain(column) for column in batch.columns]
            yield list(zip(*columns, strict=True))


def column(path: Path, table: Table, name: str) -> Iterator[list[Any]]:
    """One column of a file, batch by batch."""
    place = [column.name for column in table.columns].index(name)
    return ([row[place] for row in batch] for batch in read(path, table))


def sha256(path: Path) -> str:
    """Of a file, hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _grouped(batches: Iterable[Sequence[tuple[Any, ...]]]) -> Iterator[list[tuple[Any, ...]]]:
    group: list[tuple[Any, ...]] = []
    for batch in batches:
        group.extend(batch)
        if len(group) >= ROWS_A_GROUP:
            yield group
            group = []
    if group:
        yield group


def _record_batch(schema: pyarrow.Schema, rows: list[tuple[Any, ...]]) -> pyarrow.RecordBatch:
    import pyarrow as pa

    columns = zip(schema, zip(*rows, strict=True), strict=True)
    return pa.record_batch([pa.array(values, field.type) for field, values in columns], schema=schema)


def _plain(column: pyarrow.Array) -> list[Any]:
    """Python's own values; times as microseconds, without a detour over a calendar."""
    import pyarrow as pa

    values: list[Any] = (column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column).to_pylist()
    return values


def _schema(table: Table) -> pyarrow.Schema:
    import pyarrow as pa

    return pa.schema([pa.field(column.name, _types()[column.kind]) for column in table.columns])


@cache
def _types() -> dict[Kind, pyarrow.DataType]:
    import pyarrow as pa

    return {
        Kind.INTEGER: pa.int64(),
        Kind.NUMBER: pa.float64(),
        Kind.TEXT: pa.string(),
        Kind.BOOLEAN: pa.bool_(),
        Kind.BYTES: pa.binary(),
        Kind.UUID: pa.string(),
        Kind.JSON: pa.string(),
        Kind.TIME: pa.timestamp("us", "UTC"),
        Kind.INTEGERS: pa.list_(pa.int64()),
        Kind.NUMBERS: pa.list_(pa.float64()),
        Kind.TEXTS: pa.list_(pa.string()),
    }
