"""The folder in which benchmarks make their files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from orchestrator.contracts.errors import JobFailure
from workers.node.target import Target


@pytest.fixture
def target(tmp_path: Path) -> Target:
    return Target(tmp_path, node="n1", reserve_kb=0)


def test_a_run_folder_is_fresh_and_removed_with_what_is_in_it(target: Target, tmp_path: Path) -> None:
    with target.run_folder() as first, target.run_folder() as second:
        (first / "deep").mkdir()
        (first / "deep" / "file").write_text("x")
        assert first != second
    assert list(tmp_path.iterdir()) == []


def test_sweep_removes_what_dead_runs_of_this_node_left_and_nothing_else(target: Target, tmp_path: Path) -> None:
    other = Target(tmp_path, node="n1.b", reserve_kb=0)
    (tmp_path / "run.mine").mkdir()
    with other.run_folder() as alive:
        dead = tmp_path / f"run.n1.{'0' * 32}"
        dead.mkdir()
        assert target.sweep() == 1
        assert {entry.name for entry in tmp_path.iterdir()} == {alive.name, "run.mine"}


def test_sweep_of_a_missing_folder_is_nothing(tmp_path: Path) -> None:
    assert Target(tmp_path / "missing", node="n1", reserve_kb=0).sweep() == 0


def failure_of(target: Target, needed_kb: int) -> JobFailure:
    with pytest.raises(JobFailure) as raised:
        target.check(needed_kb)
    assert raised.value.kind == "node"
    return raised.value


def test_space_is_for_the_files_and_the_reserve(tmp_path: Path) -> None:
    free_kb = os.statvfs(tmp_path).f_bavail * os.statvfs(tmp_path).f_frsize // 1024
    Target(tmp_path, node="n1", reserve_kb=1000).check(free_kb // 2)
    too_full = failure_of(Target(tmp_path, node="n1", reserve_kb=free_kb), 1_000_000)
    assert "1000000 kB are needed" in str(too_full)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    assert "is missing" in str(failure_of(Target(tmp_path / "missing", node="n1", reserve_kb=0), 1))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_named(target: Target, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert "is read-only" in str(failure_of(target, 1))


def test_a_folder_that_takes_no_folder_is_named() -> None:
    file_system_without_folders = Target(Path("/proc"), node="n1", reserve_kb=0)
    with pytest.raises(JobFailure, match="/proc: cannot make a folder"), file_system_without_folders.run_folder():
        pass
