"""A node is put into the state a study asks for, says what it cannot do, and is put back; on a fake root."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from orchestrator.contracts.errors import JobFailure
from orchestrator.contracts.preparation import Cadence, Frequency, Preparation
from workers.benchmarks.engines import Bench
from workers.node import abilities
from workers.node.prepare import prepared, restore
from workers.node.restore import Changes
from workers.node.settings.steps import Write

PINNED = Preparation(frequency=Frequency.PINNED)
EVERYTHING = Preparation(frequency=Frequency.PINNED, trim=Cadence.PER_RUN, drop_caches=Cadence.PER_JOB)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A machine with two CPUs that scale, and a page cache to be dropped."""
    root = tmp_path / "root"
    for cpu in (0, 1):
        folder = root / f"sys/devices/system/cpu/cpu{cpu}/cpufreq"
        folder.mkdir(parents=True)
        held = {"cpuinfo_min_freq": 1200000, "cpuinfo_max_freq": 3500000}
        held |= {"scaling_min_freq": 1200000 + cpu, "scaling_max_freq": 3500000, "scaling_cur_freq": 1300000}
        for name, value in held.items():
            (folder / name).write_text(f"{value}\n")
        (folder / "scaling_governor").write_text("schedutil\n")
    (root / "proc/sys/vm").mkdir(parents=True)
    (root / "proc/sys/vm/drop_caches").write_text("0\n")
    return root


def write(path: Path, value: str) -> Write:
    return Write(setting="governor", path=path, value=value)


def bounds(root: Path) -> list[str]:
    files = sorted(root.glob("sys/devices/system/cpu/cpu*/cpufreq/scaling_m*_freq"))
    return [file.read_text().strip() for file in files]


def failure(wanted: Preparation, setting: dict[str, int], bench: Bench, root: Path) -> JobFailure:
    with pytest.raises(JobFailure) as raised, prepared(wanted, setting, bench, root):
        pass
    assert raised.value.kind == "study"
    return raised.value


def test_a_frequency_is_pinned_on_all_cpus_and_put_back(bench: Bench, root: Path) -> None:
    before = bounds(root)
    with prepared(PINNED, {"frequency_khz": 2000000}, bench, root) as node:
        assert bounds(root) == ["2000000"] * 4
        assert node.before_run().observed["frequency"] == "pinned"
    assert bounds(root) == before


def test_where_some_cpus_are_pinned_a_run_is_judged_by_these(bench: Bench, root: Path) -> None:
    (root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq").write_text("2000000\n")
    (root / "sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq").write_text("3400000\n")
    wanted = Preparation(frequency=Frequency.PINNED, cpus="0")
    with prepared(wanted, {"frequency_khz": 2000000}, bench, root) as node:
        before = node.before_run()
        node.begin_run()
        after = node.after_run(before)
    assert (after.observed["frequency_khz"], after.reason) == (2_000_000, None)


def test_a_failing_job_puts_back_as_well(bench: Bench, root: Path) -> None:
    before = bounds(root)
    with pytest.raises(RuntimeError), prepared(PINNED, {"frequency_khz": 1200000}, bench, root):
        raise RuntimeError
    assert bounds(root) == before


def test_an_agent_that_died_meanwhile_puts_back_at_its_next_start(bench: Bench, root: Path) -> None:
    before = bounds(root)
    with prepared(PINNED, {"frequency_khz": 2000000}, bench, root):
        journal = (bench.state / "changes.json").read_text()
        pinned = [(file, file.read_text()) for file in root.glob("sys/devices/system/cpu/cpu*/cpufreq/scaling_m*_freq")]
    for file, text in pinned:
        file.write_text(text)
    (bench.state / "changes.json").write_text(journal)
    restore(bench)
    assert bounds(root) == before
    assert not (bench.state / "changes.json").exists()


def test_what_somebody_else_changed_is_left_and_reported(tmp_path: Path) -> None:
    file = tmp_path / "governor"
    file.write_text("powersave\n")
    changes = Changes(tmp_path)
    changes.make([write(file, "performance")])
    file.write_text("ondemand\n")
    assert changes.restore() == [f"{file}: somebody else set it to ondemand; left as it is (it held powersave before)"]
    assert file.read_text() == "ondemand\n"


def test_a_value_that_is_there_already_is_no_change(tmp_path: Path) -> None:
    file = tmp_path / "governor"
    file.write_text("performance\n")
    Changes(tmp_path).make([write(file, "performance")])
    assert not (tmp_path / "changes.json").exists()


@pytest.mark.parametrize(
    ("setting", "said"),
    [({"frequency_khz": 9}, "does not offer 9 kHz"), ({}, "wants a factor frequency_khz")],
)
def test_a_frequency_that_cannot_be_had_fails_the_job(
    bench: Bench, root: Path, setting: dict[str, int], said: str
) -> None:
    before = bounds(root)
    assert said in str(failure(PINNED, setting, bench, root))
    assert bounds(root) == before


def test_a_machine_without_cpufreq_names_the_line_that_helps(bench: Bench, tmp_path: Path) -> None:
    said = str(failure(PINNED, {"frequency_khz": 1}, bench, tmp_path / "bare"))
    assert "no cpufreq" in said
    assert "frequency: as_is" in said


def test_as_is_changes_nothing_and_is_observed_as_such(bench: Bench, root: Path) -> None:
    before = bounds(root)
    with prepared(Preparation(), {}, bench, root) as node:
        observed = node.before_run().observed
        assert bounds(root) == before
    assert (observed["frequency"], observed["governor"]) == ("as_is", "schedutil")


def test_caches_are_dropped_as_often_as_asked(bench: Bench, root: Path) -> None:
    switch = root / "proc/sys/vm/drop_caches"
    with prepared(Preparation(drop_caches=Cadence.PER_JOB), {}, bench, root) as node:
        assert switch.read_text() == "3"
        switch.write_text("0")
        node.before_run()
        assert switch.read_text() == "0"
    with prepared(Preparation(drop_caches=Cadence.PER_RUN), {}, bench, root) as node:
        assert switch.read_text() == "0"
        node.before_run()
        assert switch.read_text() == "3"


def test_a_bare_machine_can_do_nothing_of_it_and_says_how_to_do_without(tmp_path: Path) -> None:
    remedies = [line for _, line in abilities.shortfalls(EVERYTHING, tmp_path / "bare", tmp_path)]
    assert remedies == ["frequency: as_is", "trim: never", "drop_caches: never"]


def test_what_is_not_asked_for_is_no_shortfall(tmp_path: Path) -> None:
    assert abilities.shortfalls(Preparation(), tmp_path / "bare", tmp_path) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_root_with_cpufreq_can_pin(root: Path, tmp_path: Path) -> None:
    assert abilities.shortfalls(PINNED, root, tmp_path) == []
