"""What an earlier life left is ended, and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.workers.waiting import wait_until
from workers.node import groups
from workers.node.journal import Journal


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process that leads a group of its own."""
    process = subprocess.Popen(["/bin/sleep", "600"], start_new_session=True)
    yield process
    process.kill()
    process.wait()


def rewrite(folder: Path, **changed: object) -> None:
    path = folder / "running.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))


def test_a_survivor_is_killed(journal: Journal, bystander: subprocess.Popen[bytes], tmp_path: Path) -> None:
    journal.started(bystander.pid, "mark")
    assert Journal(tmp_path / "state").kill_survivors() == 1
    assert bystander.wait() == -9
    assert Journal(tmp_path / "state").kill_survivors() == 0


@pytest.mark.parametrize("changed", [{"boot_id": "another boot"}, {"start_time": 1}])
def test_a_recycled_number_is_never_killed(
    journal: Journal, bystander: subprocess.Popen[bytes], tmp_path: Path, changed: dict[str, object]
) -> None:
    journal.started(bystander.pid, "mark")
    rewrite(tmp_path / "state", **changed)
    assert journal.kill_survivors() == 0
    assert bystander.poll() is None


@pytest.mark.parametrize(("mark", "killed"), [("ours", 1), ("another", 0)])
def test_a_group_without_its_leader_is_known_by_its_mark(
    journal: Journal, tmp_path: Path, mark: str, killed: int
) -> None:
    leader = subprocess.Popen(
        ["/bin/sh", "-c", "sleep 600 & read line"],
        stdin=subprocess.PIPE,
        start_new_session=True,
        env={"PATH": os.defpath, groups.MARK: "ours"},
    )
    wait_until(lambda: len(groups.living_members(leader.pid)) == 2, "the background process runs")
    journal.started(leader.pid, mark)
    leader.communicate(b"\n")
    assert journal.kill_survivors() == killed
    assert groups.kill(leader.pid)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"group": 1}'])
def test_a_record_that_cannot_be_read_kills_nothing(journal: Journal, tmp_path: Path, text: str) -> None:
    (tmp_path / "state" / "running.json").write_text(text)
    assert journal.kill_survivors() == 0


def test_a_name_with_parentheses_and_blanks_is_read_past() -> None:
    text = "7 (a) (b c) S 1 70 71 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 12345 0 0"
    assert groups.parse_stat(text) == groups.Process(pid=7, state="S", group=70, start_time=12345)
