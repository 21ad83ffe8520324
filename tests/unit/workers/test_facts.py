"""Facts about machines of several kinds: with and without cpufreq, two sockets, zeros, missing files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workers.node import facts
from workers.node.facts import device, files, filesystem, frequency, memory, processor

TWO_CPUS = """\
processor\t: 0
model name\t: Intel(R) Xeon(R) CPU E5-2637 v4 @ 3.50GHz
microcode\t: 0xb000040

processor\t: 1
model name\t: Intel(R) Xeon(R) CPU E5-2637 v4 @ 3.50GHz
microcode\t: 0xb000041
"""
MOUNTS = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
25 22 0:23 / /mnt/ram rw,nosuid - tmpfs tmpfs rw,size=24684084k
31 22 8:17 / /mnt/a\\040b rw,noatime master:3 propagate_from:2 - xfs /dev/sdb1 rw
"""


def test_processors_are_counted_and_the_first_is_described() -> None:
    found = processor.parse(TWO_CPUS)
    assert (found.cpus, found.microcode) == (2, "0xb000040")
    assert found.model == "Intel(R) Xeon(R) CPU E5-2637 v4 @ 3.50GHz"


def test_a_processor_without_a_name_is_one_all_the_same() -> None:
    assert processor.parse("processor\t: 0\nBogoMIPS\t: 50.00\n") == processor.Processor(
        model=None, cpus=1, microcode=None
    )


def test_zero_dirty_kilobytes_are_not_an_absent_line() -> None:
    assert memory.parse("MemTotal: 16 kB\nDirty:   0 kB\n") == memory.Memory(total_kb=16, dirty_kb=0, writeback_kb=None)


@pytest.mark.parametrize(
    ("path", "kind"), [("/mnt/a b/deep", "xfs"), ("/mnt", "ext4"), ("/mnt/ram/x", "tmpfs"), ("/mnt/rams", "ext4")]
)
def test_a_path_is_on_the_deepest_mount_above_it(path: str, kind: str) -> None:
    found = filesystem.of(Path(path), filesystem.parse(MOUNTS))
    assert found is not None
    assert found.kind == kind
    assert found.in_memory is (kind == "tmpfs")


def test_of_two_mounts_on_one_point_the_later_counts() -> None:
    again = "40 22 0:40 / /mnt/ram rw - ramfs none rw\n"
    found = filesystem.of(Path("/mnt/ram"), filesystem.parse(MOUNTS + again))
    assert found is not None
    assert found.kind == "ramfs"


@pytest.mark.parametrize(
    ("size", "can"), [("2147483648\n", True), ("0\n", False), (None, False)], ids=["takes TRIM", "zero", "absent"]
)
def test_trim_needs_a_device_that_takes_it(tmp_path: Path, size: str | None, can: bool) -> None:
    folder = tmp_path / "sys/dev/block/254:0"
    (folder / "queue").mkdir(parents=True)
    if size is not None:
        (folder / "queue/discard_max_bytes").write_text(size)
    found = device.read(tmp_path, filesystem.parse(MOUNTS)[0].device)
    assert found is not None
    assert found.can_discard is can


def cpufreq(root: Path, cpu: int, **held: str) -> Path:
    folder = root / f"sys/devices/system/cpu/cpu{cpu}/cpufreq"
    folder.mkdir(parents=True)
    for name, text in held.items():
        (folder / name).write_text(text + "\n")
    return folder


def test_two_cpus_with_differing_ranges_in_order_of_number(tmp_path: Path) -> None:
    cpufreq(tmp_path, 10, cpuinfo_min_freq="0", cpuinfo_max_freq="2000000", scaling_cur_freq="<unknown>")
    cpufreq(tmp_path, 2, scaling_available_frequencies="1200000 2800000 ", scaling_governor="userspace")
    second, tenth = frequency.read(tmp_path)
    assert (second.cpu, second.available_khz, second.governor) == (2, (1200000, 2800000), "userspace")
    assert second.offers(2800000)
    assert not second.offers(2000000)
    assert (tenth.cpu, tenth.lowest_khz, frequency.current_khz(tenth)) == (10, 0, None)
    assert tenth.offers(2000000)
    assert tenth.offers(0)
    assert not tenth.offers(2000001)


def test_a_machine_without_cpufreq_has_no_scaling(tmp_path: Path) -> None:
    assert frequency.read(tmp_path) == ()


def test_a_file_that_is_absent_or_no_number_is_none(tmp_path: Path) -> None:
    (tmp_path / "odd").write_text("<unknown>\n")
    assert files.number(tmp_path / "odd") is None
    assert files.number(tmp_path / "missing") is None
    assert files.text(tmp_path) is None


def test_facts_of_this_machine_are_json(tmp_path: Path) -> None:
    collected = json.loads(json.dumps(facts.collect(tmp_path, {"builtin": "1"})))
    assert collected["processor"]["cpus"] > 0
    assert collected["target"]["file_system"]


def test_facts_of_a_machine_with_nothing_are_none(tmp_path: Path) -> None:
    collected = facts.collect(tmp_path, {}, root=tmp_path / "nothing")
    assert (collected["processor"], collected["memory_kb"], collected["frequency"], collected["target"]) == (None,) * 4
