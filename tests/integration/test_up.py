"""`modescope up` with every real part: ready, exclusive, and gone without a trace."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from orchestrator.client import Client
from orchestrator.embedded import journal, processes

UP = (sys.executable, "-m", "orchestrator.cli.main", "up")
PARTS = ["agent-local-1", "analysis-worker", "api", "controller", "postgres", "redis"]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "home"
    yield folder
    journal.end_leftovers(folder / "children.json")
    data = Path(json.loads((folder / "home.json").read_text())["data"])
    if data != folder:  # root's database is outside the home
        shutil.rmtree(data)


@contextmanager
def running(home: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """The process of `modescope up`, and what it printed when everything was ready."""
    command = (*UP, "--home", str(home), "--json", *options)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            pytest.fail(f"`modescope up` ended: {process.communicate()[1]}")
        try:
            yield process, json.loads(line)
        finally:
            process.terminate()
            process.communicate()


def wait_for(state: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not state():
        assert time.monotonic() < deadline, "not reached within 60 s"
        time.sleep(0.05)


def gone(pid: int) -> bool:
    return processes.started_ticks(pid) is None


def journalled(home: Path, role: str) -> int | None:
    entries = json.loads((home / "children.json").read_text())["children"]
    return next((entry["process"]["pid"] for entry in entries if entry["role"] == role), None)


@pytest.mark.parametrize("request_to_stop", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_up_is_ready_and_stops_without_a_trace(home: Path, request_to_stop: signal.Signals) -> None:
    with running(home) as (process, ready):
        assert ready["home"] == str(home)
        assert sorted(ready["pids"]) == PARTS
        endpoint = json.loads((home / "endpoint.json").read_text())
        assert (home / "endpoint.json").stat().st_mode & 0o777 == 0o600
        assert endpoint["address"] == ready["address"]
        with Client(endpoint["address"], endpoint["token"]) as client:
            assert [(node.name, node.online) for node in client.nodes()] == [("local-1", True)]
        process.send_signal(request_to_stop)
        assert process.wait() == 0
    assert all(gone(pid) for pid in ready["pids"].values())
    assert not (home / "children.json").exists()


def test_a_second_up_on_the_same_home_is_refused(home: Path) -> None:
    with running(home) as (process, _ready):
        second = subprocess.run((*UP, "--home", str(home)), capture_output=True, text=True, check=False)
        assert second.returncode == 2
        assert second.stderr == (
            f"modescope: {home} is in use by process {process.pid}; stop it first, or give another --home\n"
        )


def test_a_killed_part_is_started_again(home: Path) -> None:
    with running(home) as (_process, ready):
        for role in ("redis", "postgres", "api"):
            os.kill(ready["pids"][role], signal.SIGKILL)
        for role in ("redis", "postgres", "api"):
            wait_for(lambda role=role: journalled(home, role) not in (None, ready["pids"][role]))  # type: ignore[misc]  # a loop's lambda


def test_a_start_ends_what_a_killed_supervisor_left(home: Path) -> None:
    with running(home) as (process, ready):
        process.kill()
        process.wait()
        assert not gone(ready["pids"]["postgres"])
    with running(home) as (_process, again):
        assert all(gone(pid) for pid in ready["pids"].values())
        assert sorted(again["pids"]) == PARTS
    assert all(gone(pid) for pid in again["pids"].values())
