"""What a node is set to: plans are pure, ordered, explained; what was found comes back after a death at any step."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from orchestrator.contracts.errors import JobFailure
from orchestrator.contracts.preparation import Cadence, Frequency, Preparation, Switch
from tests.unit.workers.machines import NAMES, VM, XEON, Kernel, contents, unpack
from workers.benchmarks.engines import Bench
from workers.node.facts import tunable
from workers.node.prepare import apply, prepared
from workers.node.restore import Changes
from workers.node.settings.order import ORDER, plan
from workers.node.settings.steps import Act, NoOp, Refusal, Wanted, Write

EVERYTHING = Preparation(
    frequency=Frequency.PINNED,
    governor="performance",
    turbo=Switch.OFF,
    smt=Switch.OFF,
    max_wake_us=0,
    queue_scheduler="none",
)
WANTED = Wanted(preparation=EVERYTHING, frequency_khz=2_000_000)
STEPS = 19
"""Writes of WANTED on the machine XEON: SMT, turbo, 4 governors, 8 bounds, 4 wake limits, the queue."""


@pytest.fixture
def xeon(tmp_path: Path) -> Path:
    return unpack(XEON, tmp_path / "root")


def writes(root: Path, wanted: Wanted) -> list[Write]:
    return [step for step in plan(tunable.read(root, Path("/")), wanted) if isinstance(step, Write)]


def refusals(root: Path, preparation: Preparation, frequency_khz: int = 2_000_000) -> list[str]:
    planned = plan(tunable.read(root, Path("/")), Wanted(preparation=preparation, frequency_khz=frequency_khz))
    return [step.reason for step in planned if isinstance(step, Refusal)]


def test_everything_is_planned_in_the_one_order(xeon: Path) -> None:
    planned = [step.setting for step in plan(tunable.read(xeon, Path("/")), WANTED)]
    assert list(dict.fromkeys(planned)) == [tuning.name for tuning in ORDER]
    assert len(writes(xeon, WANTED)) == STEPS
    assert all(tuning.why_here for tuning in ORDER)


@pytest.mark.parametrize("name", NAMES)
def test_a_study_that_wants_nothing_gets_explained_nothing(name: str, tmp_path: Path) -> None:
    planned = plan(tunable.read(unpack(name, tmp_path), Path("/")), Wanted(preparation=Preparation()))
    assert all(isinstance(step, NoOp) and step.reason for step in planned if step.setting != "sync")


def test_a_plan_is_pure(xeon: Path) -> None:
    before = contents(xeon)
    assert writes(xeon, WANTED) == writes(xeon, WANTED)
    assert contents(xeon) == before


def test_only_the_listed_cpus_are_set(xeon: Path) -> None:
    some = Preparation(frequency=Frequency.PINNED, governor="performance", cpus="0,2-3")
    paths = {write.path.parent.parent.name for write in writes(xeon, Wanted(preparation=some, frequency_khz=1_500_000))}
    assert paths == {"cpu0", "cpu2", "cpu3"}


def test_a_maximum_below_the_minimum_is_never_asked_for(tmp_path: Path) -> None:
    root = unpack("opteron-acpi-cpufreq", tmp_path)
    (root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq").write_text("2400000\n")
    pinned = Wanted(preparation=Preparation(frequency=Frequency.PINNED), frequency_khz=800_000)
    assert [write.path.name for write in writes(root, pinned)] == ["scaling_min_freq", "scaling_max_freq"]


def test_sleepless_cpus_are_written_as_the_kernel_writes_them(xeon: Path) -> None:
    texts = {limit: writes(xeon, Wanted(preparation=Preparation(max_wake_us=limit))) for limit in (0, 1, 200)}
    assert {limit: found[0].value for limit, found in texts.items()} == {0: "n/a", 1: "1", 200: "200"}


@pytest.mark.parametrize(
    ("preparation", "said"),
    [
        (Preparation(turbo=Switch.OFF), "no switch"),
        (Preparation(governor="performance"), "no cpufreq"),
        (Preparation(frequency=Frequency.PINNED), "no cpufreq"),
        (Preparation(smt=Switch.ON), "it is notsupported"),
        (Preparation(queue_scheduler="magic"), "no scheduler magic; it offers none, mq-deadline"),
    ],
)
def test_what_a_virtual_machine_has_not_is_refused_with_its_reason(
    preparation: Preparation, said: str, tmp_path: Path
) -> None:
    (reason,) = refusals(unpack(VM, tmp_path), preparation)
    assert said in reason


@pytest.mark.parametrize("state", ["notsupported", "notimplemented", "forceoff"])
def test_no_smt_is_as_good_as_smt_turned_off(state: str, tmp_path: Path) -> None:
    root = unpack(VM, tmp_path)
    (root / "sys/devices/system/cpu/smt/control").write_text(f"{state}\n")
    assert refusals(root, Preparation(smt=Switch.OFF)) == []


def test_a_frequency_above_one_sockets_range_is_refused_for_its_cpus(xeon: Path) -> None:
    found = refusals(xeon, Preparation(frequency=Frequency.PINNED), 3_600_000)
    assert found == [f"CPU {cpu} of this node does not offer 3600000 kHz" for cpu in (2, 3)]


def test_a_cpu_that_is_not_there_is_refused(xeon: Path) -> None:
    assert refusals(xeon, Preparation(governor="performance", cpus="3-4")) == ["there is no CPU 4 with cpufreq here"]


def test_everything_is_applied_and_comes_back_byte_by_byte(xeon: Path, bench: Bench) -> None:
    before = contents(xeon)
    with prepared(EVERYTHING, {"frequency_khz": 2_000_000}, bench, xeon, hands=Kernel()) as node:
        assert writes(xeon, WANTED) == []
        assert node.facts.device is not None
        assert node.facts.device.scheduler == "none"
    assert contents(xeon) == before


@pytest.mark.parametrize("step", range(STEPS + 1))
def test_killed_at_any_step_the_next_start_finds_everything_as_before(step: int, xeon: Path, tmp_path: Path) -> None:
    before = contents(xeon)
    _die(lambda: _apply(xeon, tmp_path, Kernel(die_at=step), then_die=True))
    assert (contents(xeon) == before) is (step == 0)
    assert Changes(tmp_path, Kernel()).restore() == []
    assert contents(xeon) == before
    assert not (tmp_path / "changes.json").exists()


@pytest.mark.parametrize("step", range(STEPS))
def test_killed_while_it_puts_back_the_start_after_that_goes_on(step: int, xeon: Path, tmp_path: Path) -> None:
    before = contents(xeon)
    _apply(xeon, tmp_path, Kernel())
    _die(lambda: Changes(tmp_path, Kernel(die_at=step)).restore())
    assert Changes(tmp_path, Kernel()).restore() == []
    assert contents(xeon) == before


def test_a_bound_that_is_clamped_until_turbo_is_back_is_put_back_all_the_same(xeon: Path, tmp_path: Path) -> None:
    class Clamping(Kernel):
        def write(self, path: Path, value: str) -> None:
            no_turbo = (xeon / "sys/devices/system/cpu/intel_pstate/no_turbo").read_text().strip() == "1"
            clamped = no_turbo and path.name == "scaling_max_freq" and int(value) > 3_000_000
            super().write(path, "3000000" if clamped else value)

    before = contents(xeon)
    _apply(xeon, tmp_path, Clamping())
    assert Changes(tmp_path, Clamping()).restore() == []
    assert contents(xeon) == before


class Preferring(Kernel):
    """As amd-pstate-epp: the governor performance sets the energy preference, and no other one sets it back."""

    def write(self, path: Path, value: str) -> None:
        super().write(path, value)
        if (path.name, value) == ("scaling_governor", "performance"):
            (path.parent / "energy_performance_preference").write_text("performance\n")


def test_what_the_kernel_changes_along_with_a_governor_is_put_back_as_well(xeon: Path, tmp_path: Path) -> None:
    before = contents(xeon)
    _apply(xeon, tmp_path, Preferring())
    assert preferences(xeon) == ["performance"] * 4
    assert Changes(tmp_path, Preferring()).restore() == []
    assert contents(xeon) == before


@pytest.mark.parametrize("step", range(STEPS))
def test_also_when_it_was_killed_before_anybody_saw_what_that_was(step: int, xeon: Path, tmp_path: Path) -> None:
    before = contents(xeon)
    _die(lambda: _apply(xeon, tmp_path, Preferring(die_at=step)))
    assert Changes(tmp_path, Preferring()).restore() == []
    assert contents(xeon) == before


def test_a_preference_that_somebody_else_sets_meanwhile_is_left(xeon: Path, tmp_path: Path) -> None:
    _apply(xeon, tmp_path, Preferring())
    theirs = xeon / "sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference"
    theirs.write_text("power\n")
    (problem,) = Changes(tmp_path, Preferring()).restore()
    assert "somebody else set it to power" in problem
    assert preferences(xeon) == ["power", *["balance_performance"] * 3]


def preferences(root: Path) -> list[str]:
    files = sorted(root.glob("sys/devices/system/cpu/cpu*/cpufreq/energy_performance_preference"))
    return [file.read_text().strip() for file in files]


def test_what_the_system_refuses_to_take_back_waits_for_the_next_start(xeon: Path, tmp_path: Path) -> None:
    class Stubborn(Kernel):
        def write(self, path: Path, value: str) -> None:
            if path.name == "no_turbo":
                raise OSError(1, "Operation not permitted")
            super().write(path, value)

    before = contents(xeon)
    _apply(xeon, tmp_path, Kernel())
    (problem,) = Changes(tmp_path, Stubborn()).restore()
    assert problem.endswith("no_turbo: cannot be put back to 0: Operation not permitted")
    assert Changes(tmp_path, Kernel()).restore() == []
    assert contents(xeon) == before


def test_an_unreadable_journal_is_kept_and_reported(tmp_path: Path) -> None:
    (tmp_path / "changes.json").write_text("{")
    assert "cannot be read" in Changes(tmp_path).restore()[0]
    assert Changes(tmp_path).restore() == []
    assert (tmp_path / "changes.unreadable").exists()


def test_a_setting_that_does_not_hold_fails_the_job(xeon: Path, tmp_path: Path) -> None:
    class Undone(Kernel):
        def write(self, path: Path, value: str) -> None:
            super().write(path, value)
            if path.name == "scheduler":  # a daemon turns the governor back while we go on
                governor = xeon / "sys/devices/system/cpu/cpu3/cpufreq/scaling_governor"
                governor.write_text("powersave\n")

    with pytest.raises(JobFailure, match="something changed it again"):
        _apply(xeon, tmp_path, Undone())


def test_trim_comes_before_dropped_caches(xeon: Path, bench: Bench) -> None:
    (xeon / "proc/sys/vm").mkdir(parents=True)
    (xeon / "proc/sys/vm/drop_caches").write_text("0\n")
    kernel = Kernel()
    often = Preparation(trim=Cadence.PER_RUN, drop_caches=Cadence.PER_RUN, settle_timeout_s=0)
    with prepared(often, {}, bench, xeon, hands=kernel) as node:
        node.before_run()
    assert [value for _, value in kernel.writes] == ["trim", "3"]
    acts = [step.setting for step in plan(node.facts, Wanted(preparation=often)) if isinstance(step, Act)]
    assert acts == ["sync", "trim", "drop_caches"]


def _apply(root: Path, journal: Path, kernel: Kernel, *, then_die: bool = False) -> None:
    apply(WANTED, root, Path("/"), Changes(journal, kernel), kernel)
    if then_die:
        os.kill(os.getpid(), 9)


def _die(action: object) -> None:
    """Do it in a process that is killed in the middle of it."""
    assert callable(action)
    pid = os.fork()
    if pid == 0:
        try:
            action()
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -9
