"""Traces of MPI programs: what a made-up file holds comes back, and real ones agree with the text beside them."""

from __future__ import annotations

import re
import struct
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from orchestrator import traces
from orchestrator.contracts.errors import TableError
from orchestrator.traces import apmpi, dumpi

SHARED = Path("/work/shared/data")
REAL = SHARED / "mpi_traces"
needs_data = pytest.mark.skipif(not REAL.is_dir(), reason=f"needs the real traces in {REAL}")
MASK = dumpi.CPU | dumpi.WALL | dumpi.THREAD


def made_call(number: int, at_s: float, arguments: bytes) -> bytes:
    times = struct.pack(">HIHI", 0, 0, 0, 0) + struct.pack(">HIHI", int(at_s), round(at_s % 1 * 1e9), int(at_s), 0)
    return struct.pack(">HBH", number, MASK, 0) + times + arguments


def made_file(path: Path, calls: list[tuple[int, float, bytes]], *, counts: Counter[int] | None = None) -> None:
    """A DUMPI file of these calls: lead-in, stream, header, footer, index."""
    told = Counter(number for number, _, _ in calls) if counts is None else counts
    stream = struct.pack(">II", 0, 1000) + b"".join(made_call(*call) for call in calls) + struct.pack(">H", 293)
    footer = struct.pack(">Q", 0xF007FEE7) + b"".join(struct.pack(">I", told[number]) for number in range(290))
    header_at = 8 + len(stream)
    footer_at = header_at + 4
    index = dumpi.MAGIC + struct.pack(">4Q", header_at, 8, footer_at, 0)
    path.write_bytes(dumpi.MAGIC + stream + b"head" + footer + index)


BARRIER, ALLREDUCE, WAITALL, INIT = 52, 65, 18, 124
SUM = struct.pack(">iHBH", 1, 9, 3, 2)
TWO_REQUESTS = struct.pack(">iiiii", 2, 2, 7, 8, 0)
TWO_WORDS = struct.pack(">i", 2) + struct.pack(">i", 5) + b"./mpi" + struct.pack(">i", 2) + b"-s"


def test_arrivals_are_read_call_by_call_over_arguments_of_any_length(tmp_path: Path) -> None:
    for rank in range(3):
        calls = [
            (INIT, 0.1, TWO_WORDS),
            (BARRIER, 1.0 + rank, struct.pack(">H", 2)),
            (WAITALL, 4.0, TWO_REQUESTS),
            (ALLREDUCE, 5.5 - rank / 4, SUM),
        ]
        made_file(tmp_path / f"run-000{rank}.bin", calls)
    found = traces.read(tmp_path / "run-0001.bin")
    assert found.trace.arrival_s == pytest.approx(np.array([[1001, 1002, 1003], [1005.5, 1005.25, 1005.0]]))
    assert found.trace.collectives == ("0 MPI_Barrier", "1 MPI_Allreduce")
    assert "MPI_Waitall 3" in found.told


def test_a_damaged_or_unknown_file_is_refused_with_the_reason(tmp_path: Path) -> None:
    barrier = (BARRIER, 1.0, struct.pack(">H", 2))
    cases: dict[str, tuple[list[tuple[int, float, bytes]], Counter[int] | None]] = {
        "call number 200": ([barrier, (200, 2.0, b"")], None),
        "says that there were 2": ([barrier], Counter({BARRIER: 2})),
    }
    for message, (calls, counts) in cases.items():
        made_file(tmp_path / "run-0000.bin", calls, counts=counts)
        with pytest.raises(TableError, match=message):
            traces.read(tmp_path / "run-0000.bin")
    whole = (tmp_path / "run-0000.bin").read_bytes()
    (tmp_path / "run-0000.bin").write_bytes(whole[:-20])
    with pytest.raises(TableError, match="index"):
        traces.read(tmp_path / "run-0000.bin")
    with pytest.raises(TableError, match="named as in"):
        traces.read(tmp_path / "run.bin")


def reference_counts(path: Path) -> Counter[str]:
    found = re.findall(r"(MPI_\w+) called (\d+) times", path.read_text())
    return Counter({name: int(count) for name, count in found if int(count) and name != "MPI_ALL_FUNCTIONS"})


@needs_data
def test_a_real_dumpi_trace_agrees_with_its_text() -> None:
    folder = REAL / "sst-dumpi"
    calls, counts = dumpi.of_binary(folder / "testtrace-0000.bin")
    as_text, told = dumpi.of_text(folder / "testtrace-0000.txt")
    assert [(call.name, call.communicator) for call in calls] == [(call.name, call.communicator) for call in as_text]
    assert [call.entered_s for call in calls] == pytest.approx([call.entered_s for call in as_text], abs=1e-6)
    assert counts == reference_counts(folder / "testtrace-0000.txt") == Counter(
        {name: count for name, count in told.items() if name != "MPI_ALL_FUNCTIONS"}
    )  # fmt: skip


@needs_data
def test_the_other_dumpi_trace_agrees_with_its_own_counts() -> None:
    trace = traces.read(REAL / "sst-macro/test_traces/testbgp.meta").trace
    assert trace.arrival_s.shape == (10, 7)
    assert not np.isnan(trace.arrival_s).any()
    assert trace.imbalance_s.max() < 0.01


@needs_data
def test_the_otf2_trace_never_reaches_10_ms() -> None:
    pytest.importorskip("otf2")
    found = traces.read(REAL / "sst-macro/otf2_test_traces/traces.otf2")
    assert found.trace.arrival_s.shape == (120, 10)
    assert 0.005 < found.trace.imbalance_s.max() < 0.010


@needs_data
def test_a_darshan_log_tells_totals_of_each_rank() -> None:
    pytest.importorskip("darshan")
    found = apmpi.summary(SHARED / "darshan/apmpi/darshan-apmpi-2nodes-64mpi.darshan")
    assert found.ranks == 128
    assert found.in_mpi_s["least"] < found.in_mpi_s["median"] < found.in_mpi_s["most"]
    with pytest.raises(TableError, match="no records of APMPI"):
        apmpi.summary(SHARED / "darshan/skew_io/skew-app.darshan")
