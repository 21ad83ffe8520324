"""The real root helper on real loop devices: fstrim frees what was deleted, and a device is emptied or refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from orchestrator.contracts.errors import JobFailure
from orchestrator.contracts.preparation import Cadence, Preparation
from workers.benchmarks.engines import Bench
from workers.benchmarks.process import Runner
from workers.benchmarks.stop import Stop
from workers.node import abilities
from workers.node.facts import tunable
from workers.node.inventory import Inventory
from workers.node.journal import Journal
from workers.node.prepare import prepared
from workers.node.settings.helper import Helped

HELPER = Path(__file__).parents[2] / "deploy/modescope-root-helper"
SIZE_BYTES = 64 << 20
HELPER_BELOW = "import runpy, sys; sys.exit(runpy.run_path({helper!r})['main']({root!r}))"
"""The helper as it is, but for the place of the files in which root names targets and devices."""


class Loop(NamedTuple):
    """A block device whose disk is a file."""

    device: Path
    file: Path

    @property
    def allocated_bytes(self) -> int:
        """What the file takes on the disk: what was discarded is not there any more."""
        return self.file.stat().st_blocks * 512


def told(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def loop() -> Iterator[Loop]:
    if os.geteuid() != 0:
        pytest.skip("loop devices need root")
    with tempfile.TemporaryDirectory(prefix="modescope-loop-", dir="/var/tmp") as folder:
        file = Path(folder) / "disk"
        file.write_bytes(b"\0" * SIZE_BYTES)
        try:
            device = told("losetup", "--find", "--show", str(file)).strip()
        except (OSError, subprocess.CalledProcessError) as problem:
            pytest.skip(f"no loop devices here: {problem}")
        yield Loop(Path(device), file)
        told("losetup", "--detach", device)


@pytest.fixture
def helper(tmp_path: Path) -> Helped:
    """The real helper in a process of its own; root names things below `tmp_path`."""
    (tmp_path / "etc/modescope").mkdir(parents=True)
    code = HELPER_BELOW.format(helper=str(HELPER), root=str(tmp_path))
    return Helped((sys.executable, "-I", "-c", code))


@pytest.fixture
def dedicate(tmp_path: Path) -> Callable[[str, Path], None]:
    """Root names one device."""

    def named(name: str, device: Path) -> None:
        (tmp_path / "etc/modescope/devices").write_text(f"{name} {device}\n")

    return named


@contextmanager
def mounted(loop: Loop, at: Path) -> Iterator[Path]:
    """A fresh ext4 on the device."""
    make_file_system(loop)
    at.mkdir()
    told("mount", str(loop.device), str(at))
    try:
        yield at
    finally:
        told("umount", str(at))


def make_file_system(loop: Loop) -> None:
    told("mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0", str(loop.device))


def scribble(loop: Loop) -> None:
    """Fill the device with what is no file system."""
    with loop.device.open("r+b") as device:
        device.write(b"\xa5" * SIZE_BYTES)
        device.flush()
        os.fsync(device.fileno())


def refusal(helper: Helped, name: str) -> str:
    with pytest.raises(JobFailure) as raised:
        helper.discard(name)
    return str(raised.value)


def test_fstrim_gives_back_what_was_deleted(loop: Loop, helper: Helped, tmp_path: Path) -> None:
    with mounted(loop, tmp_path / "mount") as folder:
        (tmp_path / "etc/modescope/targets").write_text(f"{folder}\n")
        (folder / "big").write_bytes(os.urandom(SIZE_BYTES // 2))
        os.sync()
        full_bytes = loop.allocated_bytes
        (folder / "big").unlink()
        os.sync()
        helper.trim(folder)
        assert full_bytes - loop.allocated_bytes >= SIZE_BYTES // 2


def test_a_mount_point_without_a_named_target_is_not_trimmed(loop: Loop, helper: Helped, tmp_path: Path) -> None:
    with mounted(loop, tmp_path / "mount") as folder:
        (tmp_path / "etc/modescope/targets").write_text(f"{tmp_path}\n")
        with pytest.raises(JobFailure, match="no target of /etc/modescope/targets is on"):
            helper.trim(folder)


def test_a_dedicated_device_is_emptied(loop: Loop, helper: Helped, dedicate: Callable[[str, Path], None]) -> None:
    dedicate("raw", loop.device)
    scribble(loop)
    assert loop.allocated_bytes == SIZE_BYTES
    helper.discard("raw")
    assert loop.allocated_bytes == 0
    assert not any(loop.device.read_bytes())


def test_a_mounted_device_is_refused(
    loop: Loop, helper: Helped, dedicate: Callable[[str, Path], None], tmp_path: Path
) -> None:
    dedicate("raw", loop.device)
    with mounted(loop, tmp_path / "mount") as folder:
        (folder / "precious").write_text("kept")
        assert "is in use: mounted, swap, or part of a volume" in refusal(helper, "raw")
        assert (folder / "precious").read_text() == "kept"


def test_a_device_with_a_file_system_is_refused(
    loop: Loop, helper: Helped, dedicate: Callable[[str, Path], None]
) -> None:
    dedicate("raw", loop.device)
    make_file_system(loop)
    held = loop.file.read_bytes()
    assert f"{loop.device} is not empty: it holds ext4" in refusal(helper, "raw")
    assert loop.file.read_bytes() == held


def test_a_device_that_root_did_not_name_is_refused(
    loop: Loop, helper: Helped, dedicate: Callable[[str, Path], None]
) -> None:
    dedicate("other", loop.device)
    scribble(loop)
    assert "/etc/modescope/devices names no device 'raw'" in refusal(helper, "raw")
    assert loop.allocated_bytes == SIZE_BYTES


def test_a_list_that_others_may_write_names_nothing(
    loop: Loop, helper: Helped, dedicate: Callable[[str, Path], None], tmp_path: Path
) -> None:
    dedicate("raw", loop.device)
    (tmp_path / "etc/modescope/devices").chmod(0o666)
    assert "is not root's alone to write" in refusal(helper, "raw")


def test_a_file_is_no_device(helper: Helped, dedicate: Callable[[str, Path], None]) -> None:
    dedicate("raw", Path("/dev/null"))
    assert "/dev/null is not a block device" in refusal(helper, "raw")


@pytest.mark.parametrize("extra", [{"device": "/dev/sda"}, {"force": "yes"}])
def test_a_request_never_names_a_device(helper: Helped, extra: dict[str, str]) -> None:
    request = json.dumps({"do": "discard", "name": "raw", **extra})
    done = subprocess.run(helper.argv, input=request, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "neither a write, a trim nor a discard" in done.stderr


def test_a_study_that_asks_for_trim_empties_the_device_of_its_target(
    loop: Loop, helper: Helped, dedicate: Callable[[str, Path], None], tmp_path: Path
) -> None:
    dedicate("raw", loop.device)
    scribble(loop)
    stop = Stop()
    inventory = Inventory(targets={"raw": tmp_path}, reserve_kb=0, devices={"raw": loop.device})
    runner = Runner(Journal(tmp_path / "state"), stop)
    bench = Bench(node="n1", runner=runner, inventory=inventory, state=tmp_path / "state", target_name="raw")
    with prepared(Preparation(trim=Cadence.PER_JOB), {}, bench, hands=helper, shared=True) as node:
        assert node.facts.device is not None
        assert node.facts.device.name == loop.device.name
    stop.close()
    assert loop.allocated_bytes == 0


def test_what_lsblk_tells_is_said_before_the_helper_is_asked(loop: Loop, tmp_path: Path) -> None:
    make_file_system(loop)
    facts = tunable.read(Path("/"), tmp_path, ("raw", loop.device))
    assert facts.dedicated is not None
    assert facts.dedicated.obstacle == "it is not empty: it holds ext4"
    trimming = Preparation(trim=Cadence.PER_RUN)
    ((reason, remedy),) = abilities.shortfalls(trimming, Path("/"), tmp_path, ("raw", loop.device))
    assert reason == f"the device {loop.device} cannot be discarded: it is not empty: it holds ext4"
    assert remedy == "trim: never"
