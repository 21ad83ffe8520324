"""Whole machines as trees of files: what is read of each, and what each has not."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.unit.workers.machines import DATA, NAMES, VM, XEON, unpack
from workers.node import facts
from workers.node.counters import parse_sectors
from workers.node.facts import (
    device,
    files,
    frequency,
    kernel,
    kernel_log,
    load,
    memory,
    processor,
    temperature,
    tunable,
)


def collected(name: str, tmp_path: Path) -> dict[str, Any]:
    root = unpack(name, tmp_path / "root")
    found: dict[str, Any] = json.loads(json.dumps(facts.collect(tmp_path, {"iozone": "3.489"}, root=root)))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_facts_of_every_machine_are_json(name: str, tmp_path: Path) -> None:
    assert collected(name, tmp_path)["benchmarks"] == {"iozone": "3.489"}


def test_a_virtual_machine_without_cpufreq_says_so_by_having_none(tmp_path: Path) -> None:
    found = collected(VM, tmp_path)
    assert (found["frequency"], found["turbo"], found["temperatures_c"]) == (None, None, None)
    assert found["processor"] == {
        "model": "AMD EPYC",
        "cpus": 2,
        "microcode": "0x1000065",
        "sockets": 1,
        "cores": 2,
        "smt": "notsupported",
    }
    assert found["kernel"]["preemption"] == "PREEMPT_DYNAMIC"
    assert (found["numa_nodes"], found["transparent_huge_pages"], found["swap_kb"]) == (1, "madvise", 0)
    assert found["device"]["scheduler"] == "mq-deadline"
    assert found["wake_limits_us"] == ["0"]


def test_two_sockets_with_differing_ranges_are_not_the_same_on_all_cpus(tmp_path: Path) -> None:
    found = collected(XEON, tmp_path)
    assert (found["processor"]["sockets"], found["processor"]["cores"]) == (2, 2)
    assert found["frequency"]["driver"] == "intel_pstate"
    assert found["frequency"]["energy_preference"] == "balance_performance"
    assert found["frequency"]["same_on_all_cpus"] is False
    assert found["turbo"] == "on"
    assert found["device"]["name"] == "sda"
    assert (found["device"]["model"], found["device"]["firmware"]) == ("SAMSUNG MZ7LH480", "904Q")
    assert (found["device"]["rotational"], found["device"]["discard"]) == (False, True)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("skylake-x-intel-pstate", ("intel_pstate", "powersave", 1_200_000, 4_300_000, "on")),
        ("ryzen-amd-pstate-epp", ("amd-pstate-epp", "powersave", 550_000, 4_929_000, None)),
        ("ampere-cppc", ("cppc_cpufreq", "schedutil", 1_000_000, 2_200_000, "off")),
        ("x1e80100-scmi", ("scmi", "schedutil", 710_400, 3_417_600, None)),
        ("server-pcc-cpufreq", ("pcc-cpufreq", "conservative", 1_200_000, 2_400_000, None)),
    ],
)
def test_frequencies_of_machines_that_others_published(
    name: str, expected: tuple[str, str, int, int, str | None], tmp_path: Path
) -> None:
    found = collected(f"published-{name}", tmp_path)
    told = [found["frequency"][key] for key in ("driver", "governor", "lowest_khz", "highest_khz")]
    assert (*told, found["turbo"]) == expected
    assert found["frequency"]["same_on_all_cpus"] is True


def test_an_unknown_current_frequency_is_told_by_the_driver_instead(tmp_path: Path) -> None:
    (cpu,) = frequency.read(unpack("published-x1e80100-scmi", tmp_path))
    assert frequency.current_khz(cpu) == 806_400


def test_a_lowered_maximum_is_not_what_the_hardware_can_do(tmp_path: Path) -> None:
    (cpu,) = frequency.read(unpack("published-ryzen-amd-pstate-epp", tmp_path))
    assert (cpu.maximum_khz, cpu.highest_khz, cpu.offers(4_500_000)) == (4_000_000, 4_929_000, True)


def test_the_temperature_of_an_arm_server_is_that_of_its_own_chip(tmp_path: Path) -> None:
    assert temperature.of_cpu(temperature.read(unpack("published-ampere-cppc", tmp_path))) == 37.0


@pytest.mark.parametrize(
    ("name", "expected", "schedulers"),
    [
        ("threadripper-nvme", ("nvme0n1", None, None), ("none", "mq-deadline", "kyber", "bfq")),
        ("kunpeng-sata-ssd", ("sdb", "SAMSUNG MZ7LH960", "404Q"), ("none", "mq-deadline", "kyber")),
    ],
)
def test_disks_that_others_published(
    name: str, expected: tuple[str | None, ...], schedulers: tuple[str, ...], tmp_path: Path
) -> None:
    found = tunable.read(unpack(f"published-{name}", tmp_path), Path("/")).device
    assert found is not None
    assert (found.name, found.model, found.firmware) == expected
    assert (found.scheduler, found.schedulers) == ("none", schedulers)
    assert (found.rotational, found.can_discard) == (False, True)


def test_a_btrfs_is_on_the_device_that_it_was_mounted_from(tmp_path: Path) -> None:
    root = unpack("published-threadripper-nvme", tmp_path)
    (root / "proc/self/mountinfo").write_text("29 1 0:27 /root / rw,relatime - btrfs /dev/nvme0n1p3 rw,ssd\n")
    assert tunable.read(root, Path("/")).device is None
    (root / "sys/class/block/nvme0n1p3").mkdir(parents=True)
    (root / "sys/class/block/nvme0n1p3/dev").write_text("259:3\n")
    (root / "sys/block/nvme0n1/nvme0n1p3").mkdir()
    (root / "sys/dev/block/259:3").symlink_to("../../block/nvme0n1/nvme0n1p3")
    found = tunable.read(root, Path("/")).device
    assert found is not None
    assert (found.name, found.can_discard) == ("nvme0n1", True)


def test_sectors_are_counted_across_the_blanks_of_a_stat_file(tmp_path: Path) -> None:
    stat = unpack("published-kunpeng-sata-ssd", tmp_path) / "sys/block/sdb/stat"
    assert parse_sectors(stat.read_text()) == (1228, 9_970_344)


def test_zero_degrees_are_a_temperature(tmp_path: Path) -> None:
    assert collected(XEON, tmp_path)["temperatures_c"] == {"coretemp": 43.0, "drivetemp": 0.0, "x86_pkg_temp": 42.0}
    assert temperature.of_cpu(temperature.read(unpack("epyc-amd-pstate", tmp_path / "amd"))) == 0.0


@pytest.mark.parametrize(
    ("name", "turbo"),
    [(XEON, "on"), ("epyc-amd-pstate", "differs"), ("opteron-acpi-cpufreq", "off"), ("neoverse-cppc", None)],
)
def test_every_driver_has_its_own_switch_for_turbo(name: str, turbo: str | None, tmp_path: Path) -> None:
    assert collected(name, tmp_path)["turbo"] == turbo


def test_the_switch_of_intel_pstate_has_the_opposite_sense(tmp_path: Path) -> None:
    (switch,) = frequency.read_turbo(unpack(XEON, tmp_path))
    assert (switch.text(True), switch.text(False)) == ("0", "1")


def test_a_driver_with_steps_offers_only_these_and_an_unknown_frequency_is_not_zero(tmp_path: Path) -> None:
    (cpu,) = frequency.read(unpack("opteron-acpi-cpufreq", tmp_path))
    assert cpu.offers(1700000)
    assert not cpu.offers(1800000)
    assert frequency.current_khz(cpu) == 0  # cpuinfo_cur_freq reads <unknown>, scaling_cur_freq 0


def test_a_range_may_begin_at_zero(tmp_path: Path) -> None:
    (cpu,) = frequency.read(unpack("neoverse-cppc", tmp_path))
    assert (cpu.lowest_khz, cpu.offers(0)) == (0, True)


def test_a_processor_without_names_and_sockets(tmp_path: Path) -> None:
    found = processor.read(unpack("neoverse-cppc", tmp_path))
    assert found == processor.Processor(model=None, cpus=2, microcode=None, smt="notimplemented")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_is_not_for_us_to_read_is_absent(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("1\n")
    (tmp_path / "secret").chmod(0)
    assert files.text(tmp_path / "secret") is None


def test_permission_denied_is_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = unpack(XEON, tmp_path)

    def denied(*_: object, **__: object) -> str:
        raise PermissionError

    monkeypatch.setattr(Path, "read_text", denied)
    assert processor.read(root) is None
    assert memory.read(root) is None
    assert [switch.on for switch in frequency.read_turbo(root)] == [None]
    assert tunable.read(root, tmp_path).mount is None


@pytest.mark.parametrize(
    ("name", "used", "written"),
    [
        ("smartctl-nvme.json", 0, 123456 * 512_000),
        ("smartctl-sata.json", 3, 512_000),
        ("published-smartctl-nvme-intel.json", 0, 184_919_244 * 512_000),
        ("published-smartctl-sata-samsung.json", 9, 216_456_537_880 * 512),
        ("published-smartctl-sata-disk-seagate.json", None, 543_343_366 * 512),
    ],
)
def test_wear_is_read_from_what_smartctl_prints(name: str, used: int | None, written: int) -> None:
    assert device.parse_wear((DATA / name).read_text()) == device.Wear(used_percent=used, written_bytes=written)


@pytest.mark.parametrize("text", ["", "{}", "smartctl: not found", '{"ata_smart_attributes": {"table": []}}'])
def test_a_disk_that_says_nothing_of_wear_has_none(text: str) -> None:
    assert device.parse_wear(text) is None


def test_errors_of_the_kernel_log_are_told_from_its_other_lines() -> None:
    lines = [kernel_log.parse(record) for record in (DATA / "kmsg.txt").read_text().split("---\n")]
    assert [(line.sequence, line.is_error) for line in lines] == [(0, False), (812, True), (900, False)]
    assert lines[1].text == "blk_update_request: I/O error, dev sda, sector 81920"
    assert lines[2].level == 6  # the facility is in the higher bits


def test_a_log_that_cannot_be_read_is_not_a_silent_one(tmp_path: Path) -> None:
    assert kernel_log.Tail(tmp_path).new() is None


def test_a_process_may_have_blanks_and_parentheses_in_its_name() -> None:
    text = "7 (a (b) c) S 1 7 7 0 -1 4194560 1 2 3 4 150 50 0 0 20 0 1 0 100 0 0"
    assert load.parse_stat(text) == load.Consumer(pid=7, name="a (b) c", cpu_s=200 / load.TICKS_PER_S, session=7)


@pytest.mark.parametrize(
    ("text", "chosen"),
    [("none [mq-deadline] bfq", "mq-deadline"), ("none", "none"), ("always madvise", None), ("", None), (None, None)],
)
def test_the_choice_of_a_list_is_in_brackets(text: str | None, chosen: str | None) -> None:
    assert files.chosen(text) == chosen


def test_a_kernel_that_says_nothing(tmp_path: Path) -> None:
    assert set(vars_of(kernel.read(tmp_path)).values()) == {None}


def vars_of(found: kernel.Kernel) -> dict[str, object]:
    return {name: getattr(found, name) for name in found.__dataclass_fields__}


def test_cpu_lists_are_read_as_the_kernel_writes_them() -> None:
    assert files.numbers("0-2,8") == (0, 1, 2, 8)
    assert files.numbers("0") == (0,)
    assert files.numbers("") == ()
