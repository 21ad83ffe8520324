"""A campaign's measurements as Parquet or Arrow IPC, streamed: what a batch holds is all that is in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from orchestrator.api.export import FIELDS, columns
from orchestrator.api.sink import Sink
from orchestrator.contracts.campaigns import ExportRow
from orchestrator.contracts.designs import Design
from orchestrator.contracts.errors import missing_extra
from orchestrator.contracts.metrics import Metric

if TYPE_CHECKING:
    import pyarrow

ROWS_A_BATCH = 20_000
MICROSECONDS = 1e6


class _Writer(Protocol):
    """What writes record batches, of Parquet or of Arrow IPC."""

    def write_batch(self, batch: pyarrow.RecordBatch) -> None: ...
    def close(self) -> None: ...


def require() -> None:
    """Raise MissingPartError where pyarrow is not installed: it is as big as a third of everything else."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise missing_extra("these formats need pyarrow beside the service", "archive") from None


def as_parquet(design: Design, metric: Metric, rows: Iterable[ExportRow]) -> Iterator[bytes]:
    """One file; factors have the type of their levels."""
    from pyarrow import parquet

    sink, schema = Sink(), _schema(design, metric)
    return _streamed(sink, schema, parquet.ParquetWriter(sink, schema, compression="zstd"), rows)


def as_arrow(design: Design, metric: Metric, rows: Iterable[ExportRow]) -> Iterator[bytes]:
    """One Arrow IPC stream, which readers may use while it comes."""
    from pyarrow import ipc

    sink, schema = Sink(), _schema(design, metric)
    return _streamed(sink, schema, ipc.new_stream(sink, schema), rows)


def _streamed(sink: Sink, schema: pyarrow.Schema, writer: _Writer, rows: Iterable[ExportRow]) -> Iterator[bytes]:
    waiting = iter(rows)
    while batch := list(islice(waiting, ROWS_A_BATCH)):
        writer.write_batch(_record_batch(schema, batch))
        yield sink.take()
    writer.close()
    yield sink.take()


def _record_batch(schema: pyarrow.Schema, rows: Sequence[ExportRow]) -> pyarrow.RecordBatch:
    import pyarrow as pa

    factors = len(schema) - len(FIELDS)
    cells = [_levels(rows, place, text=pa.types.is_string(schema.types[place])) for place in range(factors)]
    cells += [[getattr(row, name) for row in rows] for name in FIELDS]
    cells[factors + FIELDS.index("started_at")] = [round(row.started_at * MICROSECONDS) for row in rows]
    arrays = [pa.array(values, field.type) for values, field in zip(cells, schema, strict=True)]
    return pa.record_batch(arrays, schema=schema)


def _levels(rows: Sequence[ExportRow], place: int, *, text: bool) -> list[Any]:
    """One factor's levels, nothing for a control; as words where the factor has words among its levels."""
    levels = (row.levels[place] if row.control is None else None for row in rows)
    return [str(level) if text and level is not None else level for level in levels]


def _schema(design: Design, metric: Metric) -> pyarrow.Schema:
    import pyarrow as pa

    types = {"mode": pa.string(), "value": pa.float64(), "node": pa.string(), "job": pa.int64()}
    types |= {"started_at": pa.timestamp("us", "UTC"), "valid": pa.string(), "reason": pa.string()}
    kinds = [_type(design, place) for place in range(len(design.factors))]
    kinds += [types.get(name, pa.int32()) for name in FIELDS]
    return pa.schema(list(zip(columns(design.factors, metric), kinds, strict=True)))


def _type(design: Design, place: int) -> pyarrow.DataType:
    """Of a factor: whole numbers, numbers, or words, whatever holds all its levels."""
    import pyarrow as pa

    kinds = {type(setting.levels[place]) for setting in design.settings if setting.control is None}
    if kinds <= {int}:
        return pa.int64()
    return pa.float64() if kinds <= {int, float} else pa.string()
