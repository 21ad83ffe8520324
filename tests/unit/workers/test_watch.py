"""Around a run: counters, frequency under load, the wait for silence; on fake machines and on this one."""

from __future__ import annotations

import os
import struct
import threading
from functools import partial
from pathlib import Path

import pytest

from tests.unit.workers.machines import VM, XEON, unpack
from tests.unit.workers.waiting import wait_until
from workers.node import counters, load_frequency, quiet
from workers.node.facts import frequency, kernel_log, tunable
from workers.node.warmth import warm_modes
from workers.node.watch import Watch

MODES = ("initial_writers", "rewriters", "readers", "re-readers", "random_readers", "random_writers")


def moment(**told: float) -> counters.Counters:
    return counters.Counters(**{"user_s": 0.0, "own_user_s": 0.0, "device_kb": 0.0, "own_kb": 0.0} | told)


def test_what_is_ours_is_not_foreign() -> None:
    after = moment(user_s=10.0, own_user_s=10.0, device_kb=1e6, own_kb=1e6)
    assert counters.foreign_cpus(moment(), after, 10.0, cpus=1) == 0.0
    assert counters.foreign_kbps(moment(), after, 10.0) == 0.0


def test_what_others_do_is() -> None:
    after = moment(user_s=30.02, own_user_s=10.0, device_kb=11_024.0, own_kb=0.0)
    assert counters.foreign_cpus(moment(), after, 10.0, cpus=1) == 2.0
    assert counters.foreign_kbps(moment(), after, 10.0) == 1000.0


def test_a_clock_tick_in_a_short_run_is_not_called_foreign() -> None:
    assert counters.foreign_cpus(moment(), moment(user_s=0.02), 0.02, cpus=2) == 0.0


def test_a_machine_that_does_not_count_tells_nothing(tmp_path: Path) -> None:
    nothing = counters.read(tmp_path, None)
    assert (nothing.user_s, nothing.device_kb, nothing.own_kb) == (None, None, None)
    assert counters.foreign_cpus(nothing, nothing, 1.0) is None
    assert counters.foreign_kbps(nothing, nothing, 1.0) is None


def test_counters_are_read_as_the_kernel_writes_them() -> None:
    assert counters.parse_user_s("cpu  300 100 7 0 0 0 0 0 0 0\ncpu0 1") == 400 / os.sysconf("SC_CLK_TCK")
    assert counters.parse_user_s("intr 1") is None
    assert counters.parse_sectors("10 0 2048 5 20 0 4096 9 0 1 2") == (2048, 4096)
    assert counters.parse_io_kb("rchar: 9\nread_bytes: 1024\nwrite_bytes: 2048\ncancelled_write_bytes: 0") == 3.0


def test_sync_is_left_out_while_little_waits_to_be_written(tmp_path: Path) -> None:
    synced: list[str] = []
    meminfo = tmp_path / "proc/meminfo"
    meminfo.parent.mkdir()
    for dirty, writeback in ((0, 0), (1000, 23), (1000, 24), (0, 5000)):
        meminfo.write_text(f"Dirty: {dirty} kB\nWriteback: {writeback} kB\n")
        quiet.sync_if_needed(tmp_path, partial(synced.append, str(dirty)))
    assert synced == ["1000", "0"]


def test_a_run_waits_until_everything_is_written(tmp_path: Path) -> None:
    meminfo = tmp_path / "proc/meminfo"
    meminfo.parent.mkdir()
    meminfo.write_text("Dirty: 9000 kB\nWriteback: 0 kB\n")
    found: list[quiet.Quiet] = []
    wait = partial(quiet.wait, tmp_path, timeout_s=60, until_written=True, cool_to_c=None)
    waiter = threading.Thread(target=lambda: found.append(wait()))
    waiter.start()
    (tmp_path / "proc/fresh").write_text("Dirty: 12 kB\nWriteback: 0 kB\n")
    (tmp_path / "proc/fresh").replace(meminfo)
    waiter.join(timeout=30)
    assert (found[0].dirty_kb, found[0].writeback_kb) == (12, 0)
    assert found[0].as_dict()["dirty_kb"] == 12


def test_the_wait_is_bounded_and_says_how_long_it_was(tmp_path: Path) -> None:
    root = unpack(XEON, tmp_path)
    found = quiet.wait(root, timeout_s=0.0, until_written=True, cool_to_c=20.0)
    assert (found.temperature_c, found.waited_s) == (43.0, 0.0)
    assert quiet.wait(root, timeout_s=0.06, until_written=True, cool_to_c=20.0).waited_s >= 0.06


def test_a_node_cools_down_also_where_nobody_waits_for_the_disk(tmp_path: Path) -> None:
    root = unpack(XEON, tmp_path)
    (root / "proc/meminfo").write_text("Dirty: 9000 kB\nWriteback: 0 kB\n")
    assert quiet.wait(root, timeout_s=60, until_written=False, cool_to_c=50.0).waited_s == 0.0
    assert quiet.wait(root, timeout_s=0.06, until_written=False, cool_to_c=20.0).waited_s >= 0.06


def test_frequency_under_load_is_what_aperf_and_mperf_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = unpack(XEON, tmp_path)
    meter = load_frequency.Meter(root, frequency.read(root))
    monkeypatch.setattr(load_frequency, "registers", lambda _root, cpu: registers(aperf=1000 * cpu, mperf=1000))
    meter.begin()
    monkeypatch.setattr(load_frequency, "registers", lambda _root, cpu: registers(aperf=1000 * cpu + 4000, mperf=8000))
    assert meter.end() == load_frequency.Seen(khz=2_000_000, source="aperf_mperf")


def test_without_a_base_frequency_the_time_stamp_counter_tells_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scalings = frequency.read(unpack("opteron-acpi-cpufreq", tmp_path))
    assert {scaling.base_khz for scaling in scalings} == {None}
    meter = load_frequency.Meter(tmp_path, scalings)
    monkeypatch.setattr(load_frequency, "registers", lambda *_: registers(at_s=5.0))
    meter.begin()
    then = registers(aperf=10**9, mperf=2 * 10**9, tsc=4_600_000_000, at_s=7.0)  # idle for a part of the two seconds
    monkeypatch.setattr(load_frequency, "registers", lambda *_: then)
    assert meter.end() == load_frequency.Seen(khz=1_150_000, source="aperf_mperf")


def test_registers_are_read_as_the_driver_gives_them(tmp_path: Path) -> None:
    msr = tmp_path / "dev/cpu/3/msr"
    msr.parent.mkdir(parents=True)
    with msr.open("wb") as file:
        for number, value in ((load_frequency.TSC, 7), (load_frequency.APERF, 3)):  # 8 bytes at the place of its number
            os.pwrite(file.fileno(), struct.pack("<Q", value), number)
    found = load_frequency.registers(tmp_path, 3)
    assert (found.tsc, found.aperf) == (7, 3)


def registers(*, aperf: int = 0, mperf: int = 0, tsc: int = 0, at_s: float = 0.0) -> load_frequency.Registers:
    return load_frequency.Registers(aperf=aperf, mperf=mperf, tsc=tsc, at_s=at_s)


def test_without_registers_the_frequency_is_sampled_rarely(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = unpack(XEON, tmp_path)
    monkeypatch.setattr(load_frequency, "FIRST_SAMPLE_S", 0.001)
    meter = load_frequency.Meter(root, frequency.read(root))
    meter.begin()
    wait_until(lambda: bool(meter.samples), "a sample")
    assert meter.end() == load_frequency.Seen(khz=1_200_432, source="sampled")


def test_a_run_too_short_for_a_sample_is_looked_at_when_it_has_ended(tmp_path: Path) -> None:
    root = unpack(XEON, tmp_path)
    meter = load_frequency.Meter(root, frequency.read(root))
    meter.begin()
    assert meter.end() == load_frequency.Seen(khz=1_200_432, source="after_run")


def test_a_machine_without_cpufreq_is_not_sampled_and_nothing_is_made_up(tmp_path: Path) -> None:
    root = unpack(VM, tmp_path)
    before = threading.active_count()
    facts = tunable.read(root, Path("/"))
    watch = Watch(root, facts, scalings=facts.scalings, wanted_khz=None, target=tmp_path, shared=False, counting={})
    watch.begin()
    assert threading.active_count() == before
    seen = watch.end()
    watch.close()
    assert (seen.frequency_khz, seen.temperature_c, seen.foreign_cpus, seen.kernel_errors) == (None,) * 4
    assert set(seen.as_dict()) == {"free_kb"}


@pytest.mark.skipif(not os.access("/dev/kmsg", os.R_OK | os.W_OK), reason="needs a kernel log to write to")
def test_only_what_the_kernel_says_during_the_run_is_new() -> None:
    tail = kernel_log.Tail(Path("/"))
    assert tail.new() is not None
    Path("/dev/kmsg").write_text("<3>modescope test: not a real error\n")
    wait_until(lambda: [line.text for line in tail.new() or ()] == ["modescope test: not a real error"], "the line")
    tail.close()


@pytest.mark.parametrize(
    ("engine", "options", "warm"),
    [
        ("iozone", {}, ("readers", "re-readers", "random_readers")),
        ("iozone", {"direct": True}, ()),
        ("builtin", {}, ("readers", "re-readers", "random_readers")),
        ("replay", {}, ()),
    ],
)
def test_what_was_just_written_is_read_warm(engine: str, options: dict[str, object], warm: tuple[str, ...]) -> None:
    assert warm_modes(engine, options, MODES) == warm
