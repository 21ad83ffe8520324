"""The engine `fio`: the real fio in all six modes, and every way in which its output can be wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.contracts.designs import Level
from orchestrator.contracts.engines import SIX_MODES, FioOptions
from orchestrator.contracts.errors import JobFailure, MissingPartError, OutputError
from workers.benchmarks import fio
from workers.benchmarks.engines import Bench, available, engine
from workers.benchmarks.port import Failed, Succeeded, Task, TimedOut
from workers.benchmarks.sizes import Sizes

SMALL: dict[str, Level] = {"threads": 2, "file_size_kb": 64, "record_size_kb": 4}
SIZES = Sizes(threads=2, file_size_kb=64, record_size_kb=4)


@pytest.fixture
def real(require_program: Callable[[str], Path]) -> None:
    """fio is here."""
    require_program("fio")


def report(*jobs: dict[str, object]) -> str:
    return json.dumps({"fio version": "fio-3.33", "jobs": jobs})


def job(io_bytes: int, calls: int, mean_ns: float) -> dict[str, object]:
    moved = {"io_bytes": io_bytes, "bw_bytes": 7 * 1024, "lat_ns": {"N": calls, "mean": mean_ns}}
    return {"error": 0, "read": moved, "write": {**moved, "io_bytes": 0}}


@pytest.mark.usefixtures("real")
def test_all_six_modes_are_measured_and_nothing_stays(bench: Bench) -> None:
    assert available(bench)["fio"].startswith("3.")
    fio_engine = engine("fio", {}, bench)
    task = Task(setting=SMALL, modes=SIX_MODES)
    fio_engine.prepare(task)
    outcome = fio_engine.run(task, 0)
    assert isinstance(outcome, Succeeded), outcome
    assert len(outcome.values) == 6
    assert all(value > 0 for value in outcome.values)
    assert list(outcome.details) == list(SIX_MODES)
    assert list(bench.target.path.iterdir()) == []


@pytest.mark.usefixtures("real")
def test_values_come_in_the_order_of_the_modes_asked_for(bench: Bench) -> None:
    outcome = engine("fio", {}, bench).run(Task(setting=SMALL, modes=("re-readers", "initial_writers")), 0)
    assert isinstance(outcome, Succeeded), outcome
    assert list(outcome.details) == ["re-readers", "initial_writers"]


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize("option", ["sync_writes", "time_flush"])
def test_a_named_option_is_accepted(bench: Bench, option: str) -> None:
    outcome = engine("fio", {option: True}, bench).run(Task(setting=SMALL, modes=("rewriters",)), 0)
    assert isinstance(outcome, Succeeded), outcome


@pytest.mark.usefixtures("real")
def test_a_time_out_ends_it(bench: Bench) -> None:
    outcome = engine("fio", {"timeout_s": 0.01}, bench).run(Task(setting=SMALL, modes=("readers",)), 0)
    assert isinstance(outcome, TimedOut)
    assert list(bench.target.path.iterdir()) == []


@pytest.mark.usefixtures("real")
def test_what_fio_refuses_is_a_failure_with_its_words(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(fio.PATTERN_OF_MODE, "initial_writers", "sideways-write")
    outcome = engine("fio", {}, bench).run(Task(setting=SMALL, modes=("initial_writers",)), 0)
    assert isinstance(outcome, Failed)
    assert outcome.reason.startswith("fio ended with exit status 1: fio")


def test_the_throughput_is_the_sum_of_what_processes_moved_in_the_time_of_their_calls() -> None:
    values, details = fio.parse(report(job(65536, 16, 4000.0), job(65536, 16, 8000.0)), mode="readers")
    assert list(values) == pytest.approx([64 / 64e-6 + 64 / 128e-6])
    assert details["readers"]["min_kbps"] == pytest.approx(500000.0)
    assert details["readers"]["fio_bandwidth_kbps"] == 14.0


@pytest.mark.parametrize("text", ["", "{", "{}", report(), report({"read": {}}), report(job(65536, 0, 0.0))])
def test_a_garbled_report_is_no_value(text: str) -> None:
    with pytest.raises(OutputError, match="no bandwidth for readers"):
        fio.parse(text, mode="readers")


def test_files_exist_before_every_mode_but_the_first() -> None:
    first = fio.arguments("initial_writers", SIZES, FioOptions(direct=True))
    later = fio.arguments("random_readers", SIZES, FioOptions())
    assert {"--create_on_open=1", "--direct=1", "--rw=write", "--numjobs=2", "--size=64k", "--bs=4k"} <= set(first)
    assert {"--overwrite=1", "--rw=randread"} <= set(later)
    assert not {"--direct=1", "--sync=1", "--end_fsync=1"} & set(later)


def test_a_missing_fio_is_named(bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingPartError, match="apt-get install fio"):
        engine("fio", {}, bench).version()
    assert "fio" not in available(bench)


def test_a_mode_of_iozones_own_is_the_studys_fault(bench: Bench) -> None:
    with pytest.raises(JobFailure, match="'mixed_workload' is not one of"):
        engine("fio", {}, bench).prepare(Task(setting=SMALL, modes=("mixed_workload",)))
