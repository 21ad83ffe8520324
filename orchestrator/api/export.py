"""A campaign's measurements as CSV text, streamed."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice

from orchestrator.contracts.campaigns import ExportRow

COLUMNS = (
    "mode",
    "replicate",
    "throughput_kbps",
    "node",
    "job",
    "block",
    "position",
    "started_at",
    "valid",
    "reason",
)
_ROWS_A_CHUNK = 500


def as_csv(factors: Sequence[str], rows: Iterable[ExportRow]) -> Iterator[str]:
    """The header, then the rows in chunks; a control's factor cells are empty, and so is a failed run's value."""
    yield _text([(*factors, *COLUMNS)])
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
        row.throughput_kbps,
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
