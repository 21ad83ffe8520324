"""PostgreSQL runs as another user where we are root: its programs must be within that user's reach."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.embedded import postgres_programs
from orchestrator.embedded.accounts import run_as, service_account

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs PostgreSQL as another user")


@pytest.fixture
def data() -> Iterator[Path]:
    """A folder that another user may pass through, made under a narrow umask."""
    earlier = os.umask(0o077)
    folder = Path(tempfile.mkdtemp(prefix="modescope-test-", dir="/var/tmp"))
    folder.chmod(0o711)
    yield folder
    os.umask(earlier)
    shutil.rmtree(folder)


def test_everybody_else_runs_the_wheels_own_programs(tmp_path: Path) -> None:
    assert postgres_programs.usable(None, copy_to=tmp_path) == postgres_programs.installed()


@as_root
def test_programs_out_of_reach_are_copied(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = data / "closed"
    shutil.copytree(postgres_programs.installed().parents[1], closed / postgres_programs.WHEEL)
    libraries = f"{postgres_programs.WHEEL}.libs"
    shutil.copytree(postgres_programs.installed().parents[2] / libraries, closed / libraries)
    closed.chmod(0o700)
    monkeypatch.setattr(
        postgres_programs,
        "installed",
        lambda: closed / postgres_programs.WHEEL / postgres_programs.INSTALLATION / "bin",
    )
    programs = postgres_programs.usable(service_account(), copy_to=data / "programs")
    assert programs.is_relative_to(data / "programs")
    subprocess.run([programs / "initdb", "--version"], check=True, cwd="/", **run_as(service_account()))


def test_the_version_is_a_number() -> None:
    assert postgres_programs.major_version() >= 18
