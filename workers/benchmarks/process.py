"""Run one benchmark in a session of its own: journalled before it starts, ended whole, silent in between.

The child waits at a gate until the parent has written it down; then it starts a program (`run`) or calls a function
(`call`). When the agent dies it ends its whole group. The parent sleeps in one `poll` until the child ends, prints,
the time is over or `Stop` is set: no wake-ups while a benchmark measures.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from orchestrator.contracts.errors import JobFailure
from orchestrator.contracts.jobs import FailureKind
from workers.benchmarks import child
from workers.benchmarks.launcher import Launcher
from workers.benchmarks.port import Invocation
from workers.benchmarks.stop import LONGEST_WAIT_S, Stop
from workers.node import groups
from workers.node.journal import Journal

OUTPUT_LIMIT_BYTES = 1 << 20
"""No benchmark says more that matters; what comes after is read and dropped."""
PIPE_BYTES = 1 << 20
"""How much Linux keeps in a pipe at most, for those who are not root."""
DEAF_S = 2.0
"""A benchmark that prints line by line would wake us at every line: what it says meanwhile waits in the pipe."""
TERM_GRACE_S = 2.0
"""Between SIGTERM and SIGKILL to the group."""


class Cause(StrEnum):
    """Why a process ended."""

    EXITED = "exited"
    TIMED_OUT = "timed out"
    STOPPED = "stopped"


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """A process that is over, with everything it started."""

    cause: Cause
    exit_status: int | None
    """None: ended by a signal."""
    output: str
    """Standard output and standard error, as they came."""
    elapsed_s: float
    """Monotonic, from the gate to the end of the leader."""


class Runner:
    """Starts one process at a time and waits for its end."""

    def __init__(self, journal: Journal, stop: Stop) -> None:
        self._journal = journal
        self.stop = stop
        self._launcher = Launcher()

    def run(self, invocation: Invocation) -> Ended:
        """Run a program."""
        mark = uuid.uuid4().hex
        environment = {**invocation.environment, groups.MARK: mark}
        return self._carry_out(
            lambda: self._launcher.fork(invocation.argv, invocation.cwd, environment), mark, invocation.timeout_s
        )

    def call(self, function: Callable[[], None], timeout_s: float) -> Ended:
        """Call a function in a forked process; what it writes to descriptor 1 is the output."""
        return self._carry_out(lambda: child.fork(function), uuid.uuid4().hex, timeout_s)

    def forked_from(self) -> tuple[int, ...]:
        """The processes that benchmarks are forked from: a run inherits the counters that are attached to them."""
        launcher = self._launcher.pid()
        return (os.getpid(),) if launcher is None else (os.getpid(), launcher)

    def close(self) -> None:
        """End what helps to start programs."""
        self._launcher.close()

    def _carry_out(self, fork: Callable[[], child.Child], mark: str, timeout_s: float) -> Ended:
        if self.stop.is_set():
            return Ended(cause=Cause.STOPPED, exit_status=None, output="", elapsed_s=0.0)
        waiting = fork()
        try:
            self._journal.started(waiting.pid, mark)
            watch = _Watch(waiting, self.stop)
            begin = time.monotonic()
            waiting.let_go()
            cause = watch.until_over(begin + timeout_s)
            elapsed_s = time.monotonic() - begin
            output = watch.close(politely=cause is not Cause.EXITED)
        finally:
            status = self._end_group(waiting)
        return Ended(cause=cause, exit_status=status if status >= 0 else None, output=output, elapsed_s=elapsed_s)

    def _end_group(self, leader: child.Child) -> int:
        """Kill what is left while the leader is not reaped (so the number is still its own); reap; its exit code."""
        os.killpg(leader.pid, signal.SIGKILL)
        _, status = os.waitpid(leader.pid, 0)
        leader.close()
        if not groups.kill(leader.pid):
            raise JobFailure(FailureKind.NODE, f"process group {leader.pid} does not end, not even by SIGKILL")
        self._journal.ended()
        return os.waitstatus_to_exitcode(status)


class _Watch:
    """The parent's side of one process: one poll over its end, its output and the flag."""

    def __init__(self, leader: child.Child, stop: Stop) -> None:
        self._leader = leader
        self._stop = stop
        self._said = bytearray()
        self._handle = os.pidfd_open(leader.pid)
        os.set_blocking(leader.output, False)
        with suppress(OSError):  # a user may have too many large pipes
            fcntl.fcntl(leader.output, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self._listens = True
        self._closed = False
        self._poller = select.poll()
        for descriptor in (self._handle, leader.output, stop.fileno()):
            self._poller.register(descriptor, select.POLLIN)

    def until_over(self, deadline: float) -> Cause:
        """Sleep until the process has ended, has to end, or has used up its time; take in what it prints."""
        while (left_s := deadline - time.monotonic()) > 0:
            longest_s = LONGEST_WAIT_S if self._listens else DEAF_S
            ready = {descriptor for descriptor, _ in self._poller.poll(min(left_s, longest_s) * 1000)}
            if self._leader.output in ready:
                self._read()
                self._listen(False)
            elif not ready:
                self._listen(True)
            if self._handle in ready:
                return Cause.EXITED
            if self._stop.fileno() in ready:
                return Cause.STOPPED
        return Cause.TIMED_OUT

    def close(self, *, politely: bool) -> str:
        """All it said; `politely`: after SIGTERM to its group, and a moment to end by itself."""
        if politely:
            self._poller.unregister(self._stop.fileno())
            os.killpg(self._leader.pid, signal.SIGTERM)
            self.until_over(time.monotonic() + TERM_GRACE_S)
        self._read()
        os.close(self._handle)
        return self._said.decode(errors="replace")

    def _listen(self, listens: bool) -> None:
        """Be woken by the next output, or not; one that all writers have closed is never listened to again."""
        if not self._closed:
            self._listens = listens
            self._poller.modify(self._leader.output, select.POLLIN if listens else 0)

    def _read(self) -> None:
        """Take one pipeful: all there is when the process has ended; never more, for some never stop talking."""
        try:
            piece = os.read(self._leader.output, PIPE_BYTES)
        except BlockingIOError:
            return
        self._said += piece[: max(0, OUTPUT_LIMIT_BYTES - len(self._said))]
        if not piece and not self._closed:
            self._closed = self._listens = True
            self._poller.unregister(self._leader.output)  # closed by all writers: it would be ready for ever
