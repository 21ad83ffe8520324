"""What is counted around a run, and what is absent where a machine cannot count it."""

from __future__ import annotations

import os
import resource
import shutil
import time
from pathlib import Path

import pytest

from orchestrator.contracts.preparation import Collector
from tests.unit.workers.machines import VM, XEON, unpack
from workers.benchmarks.port import Invocation
from workers.benchmarks.process import Runner
from workers.node import collectors
from workers.node.collectors import perf, power, proc, rapl, trimmed
from workers.node.facts import device, tunable
from workers.node.watch import Watch


def zone(root: Path, place: str, *, name: str, energy_uj: int) -> Path:
    folder = root / "sys/class/powercap" / place
    folder.mkdir(parents=True, exist_ok=True)
    for file, value in (("name", name), ("max_energy_range_uj", 1000), ("energy_uj", energy_uj)):
        (folder / file).write_text(f"{value}\n")
    return folder


def counted(root: Path) -> collectors.Counted:
    facts = tunable.read(root, Path("/"))
    return collectors.Counted(root=root, facts=facts, use=None, forked_from=this_process)


def this_process() -> tuple[int, ...]:
    return (os.getpid(),)


def test_a_machine_that_counts_nothing_has_nothing_collected(tmp_path: Path) -> None:
    root = unpack(VM, tmp_path)
    names = (Collector.RAPL, Collector.TRIM)
    for collector in collectors.chosen(names, counted(root)).values():
        collector.begin()
        assert collector.end() == {}
        collector.close()


def test_energy_is_told_by_zone_and_a_counter_may_turn_over(tmp_path: Path) -> None:
    zone(tmp_path, "intel-rapl:0", name="package-0", energy_uj=0)
    dram = zone(tmp_path, "intel-rapl:0:0", name="dram", energy_uj=900)
    zone(tmp_path, "intel-rapl:1:0", name="dram", energy_uj=5)
    found = rapl.Rapl(tmp_path)
    found.begin()
    (dram / "energy_uj").write_text("100\n")
    assert found.end() == {"package-0_j": 0.0, "dram_j": 200 / 1e6, "dram@1:0_j": 0.0}


def test_energy_that_is_for_root_only_is_absent(tmp_path: Path) -> None:
    (zone(tmp_path, "intel-rapl:0", name="package-0", energy_uj=0) / "energy_uj").unlink()
    assert rapl.zones(tmp_path) == ()


def test_differences_of_proc_are_told(tmp_path: Path) -> None:
    root = unpack(XEON, tmp_path)
    (root / "proc/stat").write_text("cpu  1 2 3\nctxt 100\nbtime 5\n")
    (root / "proc/vmstat").write_text("pgfault 7\npgmajfault 0\nnr_dirty 3\n")
    (root / "sys/block/sda/stat").write_text("1 0 10 0 1 0 20 0 0 0 0\n")
    facts = tunable.read(root, Path("/"))
    found = proc.Proc(root, facts.device)
    found.begin()
    (root / "proc/stat").write_text("cpu  1 2 3\nctxt 150\n")
    (root / "sys/block/sda/stat").write_text("1 0 10 0 1 0 2020 0 0 0 0\n")
    told = found.end()
    assert (told["context_switches"], told["page_faults"], told["major_page_faults"]) == (50, 0, 0)
    assert (told["sectors_read"], told["sectors_written"]) == (0, 2000)


def test_use_of_a_disk_is_told_from_its_first_trim_on(tmp_path: Path) -> None:
    root = unpack(XEON, tmp_path)
    stat = root / "sys/block/sda/stat"
    stat.write_text("1 0 10 0 1 0 20 0 0 0 0\n")
    use = trimmed.Use(tmp_path, device.read(root, "8:2"))
    found = trimmed.SinceTrim(use)
    found.begin()
    assert found.end() == {}
    use.trimmed()
    told = []
    for written in (20, 24):
        stat.write_text(f"1 0 10 0 1 0 {written} 0 0 0 0\n")
        found.begin()
        use.ran()
        told.append(dict(found.end()))
    use.close()
    assert told == [
        {"bytes_since_trim": 0, "runs_since_trim": 0},
        {"bytes_since_trim": 4 * 512, "runs_since_trim": 1},
    ]


@pytest.fixture
def disk(tmp_path: Path) -> device.Device:
    root = unpack(XEON, tmp_path / "root")
    (root / "sys/block/sda/stat").write_text("1 0 10 0 1 0 20 0 0 0 0\n")
    found = device.read(root, "8:2")
    assert found is not None
    return found


def used(tmp_path: Path, disk: device.Device, *, runs: int) -> None:
    """An agent that trims the disk, makes runs on it, and is killed."""
    use = trimmed.Use(tmp_path, disk)
    use.trimmed()
    for _ in range(runs):
        use.ran()


def test_use_of_a_disk_outlives_the_agent(tmp_path: Path, disk: device.Device) -> None:
    used(tmp_path, disk, runs=3)
    (disk.folder / "stat").write_text("1 0 10 0 1 0 28 0 0 0 0\n")
    assert trimmed.Use(tmp_path, disk).told() == {"bytes_since_trim": 8 * 512, "runs_since_trim": 3}


def test_a_trim_begins_the_count_anew(tmp_path: Path, disk: device.Device) -> None:
    used(tmp_path, disk, runs=3)
    used(tmp_path, disk, runs=1)
    assert trimmed.Use(tmp_path, disk).told() == {"bytes_since_trim": 0, "runs_since_trim": 1}


def test_after_a_boot_nobody_knows_how_used_a_disk_is(
    tmp_path: Path, disk: device.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    used(tmp_path, disk, runs=3)
    monkeypatch.setattr(trimmed.groups, "boot_id", lambda: "another")
    assert trimmed.Use(tmp_path, disk).told() == {}


@pytest.mark.parametrize("text", ["", "garbage", "{}", '{"boot_id": 7}\n..', "[]\n"])
def test_a_record_that_cannot_be_read_knows_nothing(tmp_path: Path, disk: device.Device, text: str) -> None:
    (tmp_path / "since-trim-sda").write_text(text)
    use = trimmed.Use(tmp_path, disk)
    use.ran()
    assert use.told() == {}


def test_events_that_perf_cannot_count_are_left_out() -> None:
    text = (
        '{"counter-value" : "0.504549", "unit" : "msec", "event" : "task-clock"}\n'
        '{"counter-value" : "<not supported>", "unit" : "", "event" : "cycles"}\n'
        '{"counter-value" : "0", "unit" : "", "event" : "cpu-migrations:u"}\n'
        "Failed to attach\n"
    )
    assert perf.parse(text) == {"task-clock": 0.504549, "cpu-migrations": 0.0}


MULTIPLEXED = """\
{"counter-value" : "412.285000", "unit" : "msec", "event" : "task-clock", "event-runtime" : 412285000, "pcnt-running" : 100.00, "metric-value" : 0.424292, "metric-unit" : "CPUs utilized"}
{"counter-value" : "49.000000", "unit" : "", "event" : "page-faults", "event-runtime" : 412285000, "pcnt-running" : 100.00, "metric-value" : 118.849825, "metric-unit" : "K/sec"}
{"counter-value" : "8195464526.000000", "unit" : "", "event" : "cycles:u", "event-runtime" : 257142000, "pcnt-running" : 62.37, "metric-value" : 2.0, "metric-unit" : "GHz"}
{"counter-value" : "<not counted>", "unit" : "", "event" : "iTLB-load-misses", "event-runtime" : 0, "pcnt-running" : 0.00, "metric-value" : 0.000000, "metric-unit" : ""}
"""  # noqa: E501 - in the form of perf 6.1, written by hand: this machine has no counters


def test_counters_that_perf_counted_in_turns_are_marked_as_scaled() -> None:
    assert perf.parse(MULTIPLEXED) == {
        "task-clock": 412.285, "page-faults": 49.0, "cycles": 8195464526.0, "percent_counted": 62.37
    }  # fmt: skip


def test_groups_of_counters_take_turns_from_run_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = tmp_path / "told"
    fake = tmp_path / "perf"
    fake.write_text(f'#!/bin/sh\necho "$6" >> {told}\nexit 255\n')
    fake.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda _: str(fake))
    found = perf.Perf(this_process, rotate=True)
    for _ in range(3):
        found.begin()
        found.end()
    asked = told.read_text().split()
    assert len(set(asked)) == 3
    assert all("cycles,instructions" in one for one in asked)
    assert {event for one in asked for event in one.split(",")} >= {event for group in perf.GROUPS for event in group}


DCMI = """
    Instantaneous power reading:                   231 Watts
    Minimum during sampling period:                 20 Watts
    Maximum during sampling period:                381 Watts
    Average power reading over sample period:      229 Watts
    IPMI timestamp:                           Sat Nov 21 22:38:01 2020
    Sampling period:                          00000001 Seconds.
    Power reading state is:                   activated
"""


def test_power_is_read_from_what_ipmitool_prints() -> None:
    assert power.parse_dcmi(DCMI) == 231
    assert power.parse_dcmi(DCMI.replace("231", "0")) is None
    assert power.parse_dcmi("DCMI request failed because: Invalid command (c1)\n") is None


@pytest.mark.parametrize(
    ("text", "watts"), [("231.5\n", 231.5), ("231 W\n", 231), ("", None), ("no", None), ("-3", None)]
)
def test_power_is_read_from_what_the_operators_command_prints(text: str, watts: float | None) -> None:
    assert power.parse_watts(text) == watts


def meter(root: Path, name: str, **microwatts: int) -> None:
    folder = root / "sys/class/hwmon" / name
    folder.mkdir(parents=True)
    for file, value in microwatts.items():
        (folder / file).write_text(f"{value}\n")


def test_power_of_all_meters_of_hwmon_is_summed(tmp_path: Path) -> None:
    assert power.of_hwmon(tmp_path) is None
    meter(tmp_path, "hwmon0", power1_average=100_000_000, power1_input=1, power2_input=20_500_000)
    meter(tmp_path, "hwmon1", temp1_input=40_000)
    meter(tmp_path, "hwmon2", power1_input=30_000_000)
    assert power.of_hwmon(tmp_path) == 150.5


def test_a_run_has_a_trace_of_power(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    meter(tmp_path, "hwmon0", power1_input=200_000_000)
    found = power.Power(tmp_path)
    found.begin()
    told = found.end()
    assert told["source"] == "hwmon"
    assert (told["mean_w"], told["min_w"], told["max_w"]) == (200.0, 200.0, 200.0)
    assert told["trace_w"] == [200.0]


def test_a_machine_without_meters_tells_no_power(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    found = power.Power(tmp_path)
    found.begin()
    assert found.end() == {}


def test_a_machine_without_perf_counts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    found = perf.Perf(this_process)
    found.begin()
    assert found.end() == {}


def test_a_perf_that_cannot_count_fails_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "perf"
    broken.write_text("#!/bin/sh\necho 'No permission' >&2\nexit 255\n")
    broken.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda _: str(broken))
    found = perf.Perf(this_process)
    found.begin()
    assert found.end() == {}


WORK = 'i=0; while [ "$i" -lt 100000 ]; do i=$((i + 1)); done'


@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed")
def test_perf_counts_programs_and_forked_benchmarks_alike(runner: Runner, tmp_path: Path) -> None:
    program = Invocation(argv=("sh", "-c", WORK), cwd=tmp_path, environment={"PATH": os.defpath}, timeout_s=60)
    found = perf.Perf(runner.forked_from)
    for benchmark in (lambda: runner.run(program), lambda: runner.call(lambda: spin(0.05), timeout_s=60)):
        used_s = children_s()
        found.begin()
        if not found.counts:
            pytest.skip("nothing can be counted here")
        benchmark()
        used_s = children_s() - used_s
        assert found.end()["task-clock"] / 1000 > 0.5 * used_s, "else only what started it was counted"


def spin(processor_s: float) -> None:
    while time.process_time() < processor_s:
        pass


def children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_what_was_collected_is_told_by_collector(tmp_path: Path) -> None:
    root = unpack(XEON, tmp_path)
    zone(root, "intel-rapl:0", name="package-0", energy_uj=3)
    facts = tunable.read(root, Path("/"))
    counting = collectors.chosen((Collector.RAPL, Collector.TRIM), counted(root))
    watch = Watch(
        root, facts, scalings=facts.scalings, wanted_khz=None, target=tmp_path, shared=False, counting=counting
    )
    watch.begin()
    watch.end()
    assert watch.collected() == {"rapl": {"package-0_j": 0.0}}
    watch.close()
