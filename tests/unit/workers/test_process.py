"""One benchmark in a session of its own: journalled, ended whole, stoppable."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.unit.workers.waiting import wait_until
from workers.benchmarks import child
from workers.benchmarks.port import Invocation
from workers.benchmarks.process import OUTPUT_LIMIT_BYTES, Cause, Runner
from workers.benchmarks.stop import Stop
from workers.node import groups
from workers.node.journal import Journal

BACKGROUND = "sleep 600 & echo $$ $! > pids; wait"


def program(folder: Path, *argv: str, timeout_s: float = 20.0) -> Invocation:
    return Invocation(argv=argv, cwd=folder, environment={"PATH": os.defpath}, timeout_s=timeout_s)


def shell(folder: Path, script: str, timeout_s: float = 20.0) -> Invocation:
    return program(folder, "sh", "-c", script, timeout_s=timeout_s)


def pids(folder: Path) -> list[int]:
    wait_until(lambda: (folder / "pids").exists() and (folder / "pids").read_text().endswith("\n"), "pids are written")
    return [int(pid) for pid in (folder / "pids").read_text().split()]


def once_it_runs(folder: Path, action: Callable[[], None]) -> threading.Thread:
    def wait_and_act() -> None:
        pids(folder)
        action()

    thread = threading.Thread(target=wait_and_act)
    thread.start()
    return thread


def descriptors() -> set[str]:
    return {entry.name for entry in Path("/proc/self/fd").iterdir()}


def alive(pid: int) -> bool:
    found = groups.process(pid)
    return found is not None and found.state not in "ZX"


def test_a_program_that_prints_line_by_line_does_not_wake_the_agent_at_every_line(
    runner: Runner, tmp_path: Path
) -> None:
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
    ended = runner.run(shell(tmp_path, "for n in $(seq 100); do echo $n; sleep 0.002; done"))
    assert ended.output.split() == [str(n) for n in range(1, 101)]
    assert resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - before < 50


def test_output_status_and_duration_come_back(runner: Runner, tmp_path: Path) -> None:
    ended = runner.run(shell(tmp_path, "echo said; echo complained >&2; exit 3"))
    assert (ended.cause, ended.exit_status) == (Cause.EXITED, 3)
    assert ended.output == "said\ncomplained\n"
    assert 0 < ended.elapsed_s < 20


def test_an_end_by_a_signal_has_no_exit_status(runner: Runner, tmp_path: Path) -> None:
    assert runner.run(shell(tmp_path, "kill -9 $$")).exit_status is None


def test_a_program_that_is_missing_is_named(runner: Runner, tmp_path: Path) -> None:
    ended = runner.run(program(tmp_path, "no-such-program"))
    assert ended.exit_status == 1
    assert "no-such-program" in ended.output


def test_a_timeout_ends_the_whole_group(runner: Runner, tmp_path: Path) -> None:
    ended = runner.run(shell(tmp_path, BACKGROUND, timeout_s=0.5))
    assert ended.cause is Cause.TIMED_OUT
    assert ended.exit_status is None
    assert not any(alive(pid) for pid in pids(tmp_path))


def test_a_group_that_ignores_sigterm_is_killed(
    runner: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.benchmarks.process.TERM_GRACE_S", 0.2)
    ended = runner.run(shell(tmp_path, f"trap '' TERM; {BACKGROUND}", timeout_s=0.3))
    assert ended.cause is Cause.TIMED_OUT
    assert not any(alive(pid) for pid in pids(tmp_path))


def test_what_a_program_leaves_in_the_background_is_ended(runner: Runner, tmp_path: Path) -> None:
    assert runner.run(shell(tmp_path, "sleep 600 & echo $! > pids")).exit_status == 0
    assert not any(alive(pid) for pid in pids(tmp_path))


def test_stop_ends_a_run_in_flight(runner: Runner, stop: Stop, tmp_path: Path) -> None:
    stopper = once_it_runs(tmp_path, stop.set)
    ended = runner.run(shell(tmp_path, BACKGROUND))
    stopper.join()
    assert ended.cause is Cause.STOPPED
    assert not any(alive(pid) for pid in pids(tmp_path))


def test_nothing_starts_while_stop_is_set(runner: Runner, stop: Stop, tmp_path: Path) -> None:
    stop.set()
    assert runner.run(shell(tmp_path, "touch ran")).cause is Cause.STOPPED
    assert not (tmp_path / "ran").exists()
    stop.clear()
    assert runner.run(shell(tmp_path, "touch ran")).exit_status == 0


def test_endless_output_is_bounded(runner: Runner, tmp_path: Path) -> None:
    assert len(runner.run(shell(tmp_path, "yes | head -c 3000000")).output) == OUTPUT_LIMIT_BYTES


def test_a_program_that_never_stops_talking_times_out(runner: Runner, tmp_path: Path) -> None:
    assert runner.run(program(tmp_path, "yes", timeout_s=0.3)).cause is Cause.TIMED_OUT


def test_a_time_out_may_be_a_century(runner: Runner, tmp_path: Path) -> None:
    assert runner.run(program(tmp_path, "true", timeout_s=3e9)).exit_status == 0


def test_a_child_that_closes_its_output_is_waited_for(runner: Runner, tmp_path: Path) -> None:
    ended = runner.run(shell(tmp_path, "exec >&- 2>&-; sleep 0.2; exit 4"))
    assert ended.exit_status == 4


def test_the_run_is_in_the_journal_before_it_starts_and_not_after(
    runner: Runner, journal: Journal, tmp_path: Path
) -> None:
    record = tmp_path / "state" / "running.json"
    ended = runner.run(shell(tmp_path, f"cat {record}; echo; cut -d' ' -f5 /proc/$$/stat"))
    text, group = ended.output.splitlines()
    assert f'"group": {group},' in text
    assert journal.running() is None


def test_an_interrupted_wait_leaves_nothing_alive(runner: Runner, tmp_path: Path) -> None:
    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, interrupt)
    sender = once_it_runs(tmp_path, lambda: os.kill(os.getpid(), signal.SIGUSR1))
    try:
        with pytest.raises(KeyboardInterrupt):
            runner.run(shell(tmp_path, BACKGROUND))
    finally:
        sender.join()
        signal.signal(signal.SIGUSR1, before)
    assert not any(alive(pid) for pid in pids(tmp_path))


def test_no_descriptor_leaks_in_either_direction(runner: Runner, tmp_path: Path) -> None:
    runner.run(shell(tmp_path, "true"))  # the line to its launcher stays open
    before = descriptors()
    with socket.socket() as held:
        os.set_inheritable(held.fileno(), True)
        ended = runner.run(shell(tmp_path, "ls /proc/$$/fd"))
    assert ended.output.split() == ["0", "1", "2"]
    assert descriptors() == before


def test_a_called_function_prints_and_fails_like_a_program(runner: Runner) -> None:
    def say() -> None:
        os.write(1, b"said")

    def fail() -> None:
        raise ValueError("no good")

    assert runner.call(say, 20.0).output == "said"
    ended = runner.call(fail, 20.0)
    assert (ended.exit_status, ended.output) == (1, "ValueError: no good\n")


def test_a_called_function_does_not_run_the_agents_signal_handlers(runner: Runner) -> None:
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        ended = runner.call(lambda: os.kill(os.getpid(), signal.SIGTERM), 20.0)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert ended.exit_status is None


AGENT = """
import sys
from pathlib import Path
from workers.benchmarks.port import Invocation
from workers.benchmarks.process import Runner
from workers.benchmarks.stop import Stop
from workers.node.journal import Journal
folder, script = Path(sys.argv[1]), sys.argv[2]
argv = ("sh", "-c", script)
Runner(Journal(folder / "state"), Stop()).run(
    Invocation(argv=argv, cwd=folder, environment={"PATH": "/bin:/usr/bin"}, timeout_s=600)
)
"""


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that runs a benchmark, as an agent does."""
    process = subprocess.Popen([sys.executable, "-c", AGENT, str(tmp_path), BACKGROUND])
    yield process
    process.kill()
    process.wait()


def test_everything_ends_with_the_agent(agent: subprocess.Popen[bytes], tmp_path: Path) -> None:
    running = pids(tmp_path)
    agent.kill()
    wait_until(lambda: not any(alive(pid) for pid in running), "nothing of the run is alive")


def test_what_outlives_the_agent_and_its_watcher_is_ended_by_the_next_life(
    agent: subprocess.Popen[bytes], journal: Journal, tmp_path: Path
) -> None:
    survivors = pids(tmp_path)
    running = journal.running()
    assert running is not None
    agent.send_signal(signal.SIGSTOP)  # or it would end the group when it sees the watcher's end
    os.kill(running.group, signal.SIGKILL)
    wait_until(lambda: not alive(running.group), "the watcher is dead")
    agent.kill()
    agent.wait()
    assert all(alive(pid) for pid in survivors)
    assert journal.kill_survivors() == len(survivors)
    assert not any(alive(pid) for pid in survivors)


def test_a_child_whose_gate_is_never_opened_does_nothing(tmp_path: Path) -> None:
    waiting = child.fork((tmp_path / "ran").touch)
    waiting.close()
    assert os.waitstatus_to_exitcode(os.waitpid(waiting.pid, 0)[1]) != 0
    assert not (tmp_path / "ran").exists()
