"""What a SIGKILLed supervisor left is ended by the next start, and nothing else."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.embedded import journal, processes
from orchestrator.embedded.children import Child, Part, Role

SERVICE = "a-life-of-the-service"
# It starts a process in a session of its own, as an agent starts a benchmark, and writes down its number.
CODE = """
import subprocess
stray = subprocess.Popen(["sleep", "600"], start_new_session=True)
print(stray.pid, flush=True)
stray.wait()
"""


def wait_for(state: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not state():
        assert time.monotonic() < deadline, "not reached within 20 s"
        time.sleep(0.01)


def gone(pid: int) -> bool:
    return processes.started_ticks(pid) is None


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "children.json"


@pytest.fixture
def child(tmp_path: Path, path: Path) -> Iterator[Child]:
    """A child in the journal, with a stray of its own."""
    started = Child(
        Part(
            role=Role.AGENT,
            name="agent",
            command=(sys.executable, "-c", CODE),
            log=tmp_path / "agent.log",
            environment={**os.environ, journal.MARK: SERVICE},
        )
    )
    started.wait_until(lambda: started.part.log.read_text().endswith("\n"))
    journal.write(path, SERVICE, [started])
    yield started
    journal.end_leftovers(path)
    started.bury()


def test_leftovers_are_ended_with_their_strays(child: Child, path: Path) -> None:
    stray = int(child.part.log.read_text())
    assert journal.end_leftovers(path) == 1
    wait_for(lambda: gone(child.pid) and gone(stray))
    assert not path.exists()


def test_a_home_that_was_left_in_order_has_no_leftovers(path: Path) -> None:
    assert journal.end_leftovers(path) == 0


@pytest.mark.parametrize("difference", [{"started_ticks": 1}, {"boot_id": "another boot"}])
def test_a_recycled_process_id_is_left_alone(
    child: Child, path: Path, tmp_path: Path, difference: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Negative control: the journal means an earlier process with the same number."""
    real = processes.identify(child.pid)
    assert real is not None
    other = replace(real, **difference)  # type: ignore[arg-type]  # names and types are in the parameters above
    another_journal = tmp_path / "another.json"
    with monkeypatch.context() as patch:
        patch.setattr(processes, "identify", lambda _pid: other)
        journal.write(another_journal, "another life", [child])
    assert journal.end_leftovers(another_journal) == 0
    assert child.running()
