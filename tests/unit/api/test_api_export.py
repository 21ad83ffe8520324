"""Measurements taken home: the same rows in every format, in constant memory."""

from __future__ import annotations

import csv
import io
import tracemalloc
from collections.abc import Iterator

import httpx
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

from orchestrator.api import columnar, export
from orchestrator.client import Client
from orchestrator.contracts.campaigns import ExportRow
from orchestrator.contracts.designs import Design, Setting
from orchestrator.contracts.errors import MissingPartError
from orchestrator.contracts.metrics import THROUGHPUT, Metric
from tests.unit.measured import Laboratory


def test_every_format_has_the_same_rows(http: httpx.Client, laboratory: Laboratory) -> None:
    campaign = laboratory.submit()
    laboratory.fail_once()
    laboratory.work_off()
    read = {
        name: http.get(f"/api/v1/campaigns/{campaign.id}/export", params={"format": name}).content
        for name in ("csv", "parquet", "arrow")
    }
    header, *rows = csv.reader(io.StringIO(read["csv"].decode()))
    as_parquet = parquet.read_table(io.BytesIO(read["parquet"]))
    as_arrow = ipc.open_stream(read["arrow"]).read_all()
    assert as_parquet.column_names == as_arrow.column_names == header
    assert as_parquet.equals(as_arrow)
    assert as_parquet.num_rows == len(rows)
    assert as_parquet.schema.field("file_size_kb").type == pa.int64()
    for name in ("file_size_kb", "mode", "replicate", "throughput_kbps", "valid", "reason", "started_at"):
        column = [row[header.index(name)] for row in rows]
        values = as_parquet[name].to_pylist()
        shown = [value.isoformat(timespec="microseconds") if name == "started_at" else value for value in values]
        assert ["" if value is None else str(value) for value in shown] == column


def test_a_format_that_nobody_writes_is_refused(http: httpx.Client, laboratory: Laboratory) -> None:
    campaign = laboratory.submit()
    assert http.get(f"/api/v1/campaigns/{campaign.id}/export", params={"format": "xlsx"}).status_code == 422


def test_without_pyarrow_one_line_says_what_to_install(
    client: Client, laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise MissingPartError("install `modescope[archive]`")

    monkeypatch.setattr(columnar, "require", missing)
    campaign = laboratory.submit()
    with pytest.raises(MissingPartError, match="install"):
        b"".join(client.export(campaign.id, as_format="parquet"))


def test_levels_of_several_kinds_find_one_type() -> None:
    levels = [(1, 0.5, "ssd"), (2, 3, 7)]
    design = Design(
        factors=("threads", "share", "target"),
        settings=tuple(Setting(ordinal=n, levels=chosen, modes=("readers",)) for n, chosen in enumerate(levels)),
    )
    rows = [_row(chosen) for chosen in levels]
    table = ipc.open_stream(b"".join(columnar.as_arrow(design, THROUGHPUT, rows))).read_all()
    assert [str(kind) for kind in table.schema.types[:3]] == ["int64", "double", "string"]
    assert table["target"].to_pylist() == ["ssd", "7"]


@pytest.mark.parametrize("written_as", ["csv", "parquet", "arrow"])
def test_memory_does_not_grow_with_the_rows(written_as: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columnar, "ROWS_A_BATCH", 2000)
    few, many = (_peak_bytes(written_as, rows) for rows in (4000, 16_000))
    assert many < 1.3 * few


def _peak_bytes(written_as: str, rows: int) -> int:
    design = Design(factors=("threads",), settings=(Setting(ordinal=0, levels=(1,), modes=("readers",)),))
    asked: Iterator[ExportRow] = (_row((1,)) for _ in range(rows))
    pieces: Iterator[str] | Iterator[bytes] = export.as_csv(design.factors, THROUGHPUT, asked)
    if written_as != "csv":
        pieces = (columnar.as_parquet if written_as == "parquet" else columnar.as_arrow)(design, THROUGHPUT, asked)
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    for _ in pieces:
        pass
    peak = tracemalloc.get_traced_memory()[1] + pa.default_memory_pool().max_memory() - before
    tracemalloc.stop()
    return peak


def _row(levels: tuple[int | float | str, ...]) -> ExportRow:
    return ExportRow(
        levels=levels, control=None, mode="readers", replicate=1, value=12.5, node="n1", job=1, block=0,
        position=0, started_at=1.6e9, valid="valid", reason=None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        (THROUGHPUT, "throughput_kbps"),
        (Metric(name="response time", unit="ms"), "response_time_ms"),
        (Metric(name="Calls", unit="1/s"), "calls_1_per_s"),
        (Metric(name="node", unit=""), "node_value"),
        (Metric(name="temps", unit="°C"), "temps_c"),
        (Metric(name="threads", unit="%"), "threads_percent"),
    ],
)
def test_the_column_of_values_is_named_after_metric_and_unit(metric: Metric, name: str) -> None:
    header = next(export.as_csv(("threads",), metric, [])).rstrip().split(",")
    before, behind = ("threads", "mode", "replicate"), ("node", "job", "block", "position", "started_at")
    assert header == [*before, name, *behind, "valid", "reason"]
