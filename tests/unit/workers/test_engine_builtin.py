"""The engine `builtin` really writes and reads, in IOzone's six modes."""

from __future__ import annotations

import os

import pytest

from orchestrator.contracts.engines import SIX_MODES
from orchestrator.contracts.errors import JobFailure
from workers.benchmarks.engines import Bench, engine
from workers.benchmarks.port import Failed, Outcome, Stopped, Succeeded, Task, TimedOut


def task(threads: int = 2, file_size_kb: int = 64, record_size_kb: int = 4, modes: tuple[str, ...] = SIX_MODES) -> Task:
    setting = {"threads": threads, "file_size_kb": file_size_kb, "record_size_kb": record_size_kb}
    return Task(setting=setting, modes=modes)


def ran(bench: Bench, wanted: Task, **options: object) -> Outcome:
    return engine("builtin", options, bench).run(wanted, 0)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_mode_has_a_throughput_and_details(bench: Bench, threads: int) -> None:
    outcome = ran(bench, task(threads))
    assert isinstance(outcome, Succeeded)
    assert len(outcome.values) == 6
    assert all(value > 0 for value in outcome.values)
    for mode, value in zip(SIX_MODES, outcome.values, strict=True):
        details = outcome.details[mode]
        assert details["avg_kbps"] * threads == pytest.approx(value)
        assert 0 <= details["min_xfer_kb"] <= 64


def test_only_the_modes_asked_for_come_back_in_their_order(bench: Bench) -> None:
    outcome = ran(bench, task(modes=("random_writers", "readers")))
    assert isinstance(outcome, Succeeded)
    assert list(outcome.details) == ["random_writers", "readers"]


def test_without_stonewalling_every_process_moves_all_of_its_file(bench: Bench) -> None:
    outcome = ran(bench, task(4, file_size_kb=63, record_size_kb=4), stonewall=False)
    assert isinstance(outcome, Succeeded)
    assert {details["min_xfer_kb"] for details in outcome.details.values()} == {63.0}


def test_nothing_is_left_in_the_target_folder(bench: Bench) -> None:
    ran(bench, task())
    assert list(bench.target.path.iterdir()) == []


def test_a_full_disk_is_the_nodes_fault(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, record: bytes, offset: int) -> int:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "pwrite", full)
    outcome = ran(bench, task())
    assert isinstance(outcome, Failed)
    assert outcome.reason == "builtin failed: No space left on device"
    assert outcome.kind == "node"


def test_a_process_that_is_killed_fails_the_run(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "preadv", lambda *_: os.kill(os.getpid(), 9))
    outcome = ran(bench, task(1))
    assert isinstance(outcome, Failed)


def test_a_timeout_is_one_and_a_stop_is_none(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "pwrite", lambda *_: 0 * len(os.read(os.pipe()[0], 1)))  # never returns
    assert isinstance(ran(bench, task(), timeout_s=0.2), TimedOut)
    bench.runner.stop.set()
    assert isinstance(ran(bench, task()), Stopped)


def test_an_unknown_mode_and_too_little_space_are_told_beforehand(bench: Bench) -> None:
    builtin = engine("builtin", {}, bench)
    builtin.prepare(task())
    with pytest.raises(JobFailure, match="'readrs' is not one of"):
        builtin.prepare(task(modes=("readrs",)))
    with pytest.raises(JobFailure, match="kB are needed"):
        builtin.prepare(task(file_size_kb=1 << 42))
