"""What a supervisor does with children that live, die, or refuse to stop."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from orchestrator.embedded import processes, restarts
from orchestrator.embedded.children import Part, PartError, Role
from orchestrator.embedded.supervisor import Supervisor

WAIT = "import signal; print('up', flush=True); signal.pause()"
STUBBORN = (
    "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True)\nwhile 1: signal.pause()"
)


def part(folder: Path, code: str, *, role: Role = Role.API, name: str = "part", grace_s: float = 10.0) -> Part:
    return Part(role=role, name=name, command=(sys.executable, "-c", code), log=folder / f"{name}.log", grace_s=grace_s)


def has_spoken(waited_for: Part) -> Callable[[], bool]:
    return lambda: waited_for.log.read_text().endswith("\n")


def start(supervisor: Supervisor, started: Part, ready: Callable[[], bool]) -> None:
    supervisor.start(started)
    supervisor.wait_until(started, ready)


def wait_for(state: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not state():
        assert time.monotonic() < deadline, "not reached within 20 s"
        time.sleep(0.01)


def gone(pid: int) -> bool:
    return processes.started_ticks(pid) is None


@pytest.fixture
def stop() -> threading.Event:
    return threading.Event()


@pytest.fixture
def supervisor(tmp_path: Path, stop: threading.Event) -> Iterator[Supervisor]:
    made = Supervisor(tmp_path / "children.json", stop)
    yield made
    if (tmp_path / "children.json").exists():
        made.end()


@contextmanager
def watching(supervisor: Supervisor, stop: threading.Event) -> Iterator[list[PartError]]:
    """The supervisor's watch in a thread; what it raises."""
    raised = list[PartError]()

    def watch() -> None:
        try:
            supervisor.watch()
        except PartError as error:
            raised.append(error)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield raised
    finally:
        stop.set()
        thread.join()


def test_a_part_that_dies_is_started_again(tmp_path: Path, supervisor: Supervisor, stop: threading.Event) -> None:
    supervisor.start(part(tmp_path, WAIT))
    first = supervisor.pids["part"]
    with watching(supervisor, stop):
        os.kill(first, signal.SIGKILL)
        wait_for(lambda: supervisor.pids.get("part", first) != first)


def test_a_part_that_keeps_dying_stops_everything(
    tmp_path: Path, supervisor: Supervisor, stop: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restarts, "FIRST_DELAY_S", 0.0)
    supervisor.start(part(tmp_path, "raise SystemExit(3)"))
    with watching(supervisor, stop) as raised:
        wait_for(lambda: bool(raised))
    assert str(raised[0]) == (
        f"part died 6 times within 60 s, at last with exit status 3: it wrote nothing (its log: {tmp_path}/part.log)"
    )


def test_a_part_that_ends_at_its_start_is_named_with_its_log(tmp_path: Path, supervisor: Supervisor) -> None:
    with pytest.raises(PartError, match=r"part ended at its start \(exit status 3\): no disk \(its log: .*part\.log\)"):
        start(supervisor, part(tmp_path, "print('no disk'); raise SystemExit(3)"), lambda: False)


def test_parts_end_in_the_order_of_their_roles(tmp_path: Path, supervisor: Supervisor) -> None:
    code = f"""
import signal
def say(*_):
    with open({str(tmp_path / "order")!r}, "a") as order: order.write(NAME + "\\n")
    raise SystemExit
signal.signal(signal.SIGTERM, say)
print("up", flush=True)
signal.pause()
"""
    for role in reversed(Role):
        started = part(tmp_path, f"NAME = {role.value!r}\n{code}", role=role, name=role)
        start(supervisor, started, has_spoken(started))
    supervisor.end()
    assert (tmp_path / "order").read_text().split() == [
        "controller", "agent", "analysis-worker", "api", "redis", "postgres",
    ]  # fmt: skip


def test_a_part_that_ignores_its_signal_is_killed_after_its_grace(tmp_path: Path, supervisor: Supervisor) -> None:
    stubborn = part(tmp_path, STUBBORN, grace_s=0.1)
    start(supervisor, stubborn, has_spoken(stubborn))
    pid = supervisor.pids["part"]
    supervisor.end()
    assert gone(pid)
