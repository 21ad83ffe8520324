"""The engine `replay`: the same value however often it is asked for."""

from __future__ import annotations

import os
import statistics
from pathlib import Path

import pytest

from orchestrator.contracts.engines import ReplayOptions
from orchestrator.contracts.errors import JobFailure
from workers.benchmarks.engines import Bench, engine
from workers.benchmarks.port import Stopped, Succeeded, Task, TimedOut
from workers.benchmarks.replay import Replay
from workers.benchmarks.stop import Stop

TASK = Task(setting={"threads": 4, "frequency_ghz": 1.2}, modes=("readers", "re-readers"))
CONTROL = Task(setting={}, modes=("control_bimodal",))
BIMODAL = "normal:0.3,1000,10;0.7,2000,20"


def values(replay: Replay, replicate: int, task: Task = TASK) -> tuple[float, ...]:
    outcome = replay.run(task, replicate)
    assert isinstance(outcome, Succeeded)
    return outcome.values


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "recorded.csv"
    path.write_text("frequency_ghz,threads,mode,t1,t2,t3\n1.20,4.0,re-readers,4,5,6\n1.2,4,readers,1,2,\n")
    return path


def test_replicate_k_is_the_kth_value_however_levels_are_written(stop: Stop, recording: Path) -> None:
    replay = Replay(ReplayOptions(recording="xu"), stop, {"xu": recording})
    assert [values(replay, 0), values(replay, 1), values(replay, 0)] == [(1.0, 4.0), (2.0, 5.0), (1.0, 4.0)]


def test_a_changed_recording_is_read_again(stop: Stop, recording: Path) -> None:
    replay = Replay(ReplayOptions(recording="xu"), stop, {"xu": recording})
    assert values(replay, 0)[0] == 1.0
    recording.write_text(recording.read_text().replace("readers,1,", "readers,9,"))
    os.utime(recording, ns=(1, 1))
    assert values(replay, 0)[0] == 9.0


@pytest.mark.parametrize(
    ("task", "replicate", "said"),
    [
        (TASK, 2, "2 values for frequency_ghz=1.2, threads=4, mode=readers, none for replicate 2"),
        (Task(setting={"threads": 5, "frequency_ghz": 1.2}, modes=("readers",)), 0, "0 values for"),
        (Task(setting={"threads": 4}, modes=("readers",)), 0, "column 'frequency_ghz' is no factor"),
    ],
)
def test_what_is_not_recorded_is_the_studys_fault(
    stop: Stop, recording: Path, task: Task, replicate: int, said: str
) -> None:
    with pytest.raises(JobFailure, match=said) as raised:
        Replay(ReplayOptions(recording="xu"), stop, {"xu": recording}).run(task, replicate)
    assert raised.value.kind == "study"


def test_a_recording_must_be_in_the_inventory_and_readable(stop: Stop, tmp_path: Path) -> None:
    replay = Replay(ReplayOptions(recording="../etc/passwd"), stop, {"xu": tmp_path / "missing.csv"})
    with pytest.raises(JobFailure, match=r"'\.\./etc/passwd' is not in this node's inventory; recordings there: xu"):
        replay.prepare(TASK)
    with pytest.raises(JobFailure, match=r"missing\.csv: recording cannot be read"):
        Replay(ReplayOptions(recording="xu"), stop, {"xu": tmp_path / "missing.csv"}).prepare(TASK)
    (tmp_path / "garbage.csv").write_text("a,b\n1,2\n")
    with pytest.raises(JobFailure, match=r"garbage\.csv: row 1"):
        Replay(ReplayOptions(recording="xu"), stop, {"xu": tmp_path / "garbage.csv"}).prepare(TASK)


def test_draws_depend_on_seed_setting_mode_and_replicate_only(stop: Stop) -> None:
    replay = Replay(ReplayOptions(mixture=BIMODAL, seed=1), stop, {})
    assert values(replay, 7) == values(Replay(ReplayOptions(mixture=BIMODAL, seed=1), stop, {}), 7)
    assert values(replay, 7) != values(Replay(ReplayOptions(mixture=BIMODAL, seed=2), stop, {}), 7)
    assert values(replay, 7) != values(replay, 8)
    assert len(set(values(replay, 7))) == 2


def test_draws_are_the_mixture_that_was_asked_for(stop: Stop) -> None:
    replay = Replay(ReplayOptions(mixture=BIMODAL), stop, {})
    drawn = [values(replay, k, CONTROL)[0] for k in range(2000)]
    high = [value for value in drawn if value > 1500]
    low = [value for value in drawn if value <= 1500]
    assert len(high) / 2000 == pytest.approx(0.7, abs=0.05)
    assert (statistics.fmean(low), statistics.stdev(low)) == pytest.approx((1000, 10), rel=0.15)
    assert (statistics.fmean(high), statistics.stdev(high)) == pytest.approx((2000, 20), rel=0.15)


def test_lognormal_draws_are_positive_and_have_the_median_of_exp_mu(stop: Stop) -> None:
    replay = Replay(ReplayOptions(mixture="lognormal:1,5,0.5"), stop, {})
    drawn = [values(replay, k, CONTROL)[0] for k in range(500)]
    assert min(drawn) > 0
    assert statistics.median(drawn) == pytest.approx(148.4, rel=0.15)


def test_a_mixture_that_cannot_be_read_is_the_studys_fault(stop: Stop) -> None:
    with pytest.raises(JobFailure, match="is not a mixture"):
        Replay(ReplayOptions(mixture="normal:oops"), stop, {}).prepare(CONTROL)


def test_a_pretended_run_lasts_times_out_and_can_be_stopped(stop: Stop) -> None:
    long = Replay(ReplayOptions(mixture=BIMODAL, run_s=600, timeout_s=0.05), stop, {}).run(CONTROL, 0)
    assert isinstance(long, TimedOut)
    short = Replay(ReplayOptions(mixture=BIMODAL, run_s=0.05), stop, {}).run(CONTROL, 0)
    assert short.elapsed_s >= 0.05
    stop.set()
    assert isinstance(Replay(ReplayOptions(mixture=BIMODAL, run_s=600), stop, {}).run(CONTROL, 0), Stopped)


def test_the_bench_gives_it_the_nodes_recordings(bench: Bench) -> None:
    with pytest.raises(JobFailure, match="recordings there: none"):
        engine("replay", {"recording": "xu"}, bench).prepare(TASK)
