"""A campaign's measurements as CSV text, streamed."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice

from orchestrator.contracts.campaigns import ExportRow
from orchestrator.contracts.metrics import Metric

FIELDS = ("mode", "replicate", "value", "node", "job", "block", "position", "started_at", "valid", "reason")
"""Of an `ExportRow`, behind its levels."""
_ROWS_A_CHUNK = 500


def columns(factors: Sequence[str], metric: Metric) -> tuple[str, ...]:
    """The header: the value's column is named after metric and unit, unless something else has that name."""
    others = {*factors, *FIELDS}
    value = f"{metric.column}_value" if metric.column in others else metric.column
    return (*factors, *(value if field == "value" else field for field in FIELDS))


def as_csv(factors: Sequence[str], metric: Metric, rows: Iterable[ExportRow]) -> Iterator[str]:
    """The header, then the rows in chunks; a control's factor cells are empty, and so is a failed run's value."""
    yield _text([columns(factors, metric)])
    cells = (_cells(len(factors), row) for row in rows)
    while chunk := list(islice(cells, _ROWS_A_CHUNK)):
        yield _text(chunk)


def _cells(factor_count: int, row: ExportRow) -> tuple[object, ...]:
    levels = row.levels if row.control is None else ("",) * factor_count
    started_at = datetime.fromtimestamp(row.started_at, UTC).isoformat(timespec="microseconds")
    return (
        *levels,
        row.mode,
        row.replicate,
        row.value,
        row.node,
        row.job,
        row.block,
        row.position,
        started_at,
        row.valid,
        row.reason,
    )


def _text(rows: Iterable[tuple[object, ...]]) -> str:
    page = io.StringIO()
    csv.writer(page, lineterminator="\n").writerows(rows)
    return page.getvalue()
