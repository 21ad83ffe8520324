"""`modescope up` with every real part: ready, exclusive, and gone without a trace."""

from __future__ import annotations

import json
import os
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
from orchestrator.embedded.home import discard

UP = (sys.executable, "-m", "orchestrator.cli.main", "up")
PARTS = ["agent-local-1", "analysis-worker", "api", "controller", "postgres", "redis"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("up") / "home"
    yield folder
    journal.end_leftovers(folder / "children.json")
    discard(folder)


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


def test_up_serves_its_home_alone_until_it_is_killed(home: Path) -> None:
    with running(home) as (process, ready):
        the_api_answers_for_one_node(home, ready)
        a_second_up_is_refused(home, process.pid)
        killed_parts_are_started_again(home, ready)
        process.kill()
        process.wait()
        assert not gone(ready["pids"]["agent-local-1"])


def test_the_next_start_ends_what_was_left_and_stops_without_a_trace(home: Path) -> None:
    left = [entry["process"]["pid"] for entry in journalled(home)]
    with running(home) as (process, ready):
        assert all(gone(pid) for pid in left)
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0
    assert all(gone(pid) for pid in ready["pids"].values())
    assert not (home / "children.json").exists()


def the_api_answers_for_one_node(home: Path, ready: dict[str, Any]) -> None:
    assert ready["home"] == str(home)
    assert sorted(ready["pids"]) == PARTS
    assert (home / "endpoint.json").stat().st_mode & 0o777 == 0o600
    endpoint = json.loads((home / "endpoint.json").read_text())
    assert endpoint["address"] == ready["address"]
    with Client(endpoint["address"], endpoint["token"]) as client:
        assert [(node.name, node.online) for node in client.nodes()] == [("local-1", True)]


def a_second_up_is_refused(home: Path, first: int) -> None:
    second = subprocess.run((*UP, "--home", str(home)), capture_output=True, text=True, check=False)
    assert second.returncode == 2
    assert second.stderr == f"modescope: {home} is in use by process {first}; stop it first, or give another --home\n"


def killed_parts_are_started_again(home: Path, ready: dict[str, Any]) -> None:
    killed = {role: ready["pids"][role] for role in ("redis", "postgres", "api")}
    for pid in killed.values():
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda: all(running_as(home, role) not in (None, pid) for role, pid in killed.items()))


def wait_for(state: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not state():
        assert time.monotonic() < deadline, "not reached within 60 s"
        time.sleep(0.05)


def gone(pid: int) -> bool:
    return processes.started_ticks(pid) is None


def running_as(home: Path, role: str) -> int | None:
    return next((entry["process"]["pid"] for entry in journalled(home) if entry["role"] == role), None)


def journalled(home: Path) -> list[dict[str, Any]]:
    children: list[dict[str, Any]] = json.loads((home / "children.json").read_text())["children"]
    return children
