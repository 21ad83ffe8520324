"""One part, one child process: started in a session of its own, ended with all of it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from orchestrator import logs
from orchestrator.contracts.errors import ModescopeError
from orchestrator.embedded import processes
from orchestrator.embedded.accounts import Account, run_as


class Role(StrEnum):
    """What a part does, in the order in which parts stop: who asks for work, who does it, what it rests on."""

    CONTROLLER = "controller"
    AGENT = "agent"
    ANALYSIS = "analysis-worker"
    API = "api"
    REDIS = "redis"
    POSTGRES = "postgres"


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A program to keep running."""

    role: Role
    name: str
    command: tuple[str, ...]
    log: Path
    """Where its output goes; appended to."""
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    account: Account | None = None
    """Another user to run as."""
    stop_signal: signal.Signals = signal.SIGTERM
    grace_s: float = 10.0
    """How long it may take to stop before its session is killed."""


class PartError(ModescopeError):
    """A part does not start, or keeps dying."""

    def __init__(self, part: Part, what: str) -> None:
        super().__init__(f"{part.name} {what}: {_last_words(part.log)} (its log: {part.log})")


class Child:
    """A part's running process; leader of a session, so that a terminal's Ctrl-C does not reach it."""

    def __init__(self, part: Part) -> None:
        self.part = part
        with part.log.open("ab") as log:
            self._process = subprocess.Popen(
                part.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd="/",
                env=dict(part.environment),
                start_new_session=True,
                **run_as(part.account),
            )

    @property
    def pid(self) -> int:
        """Also the number of its session."""
        return self._process.pid

    def running(self) -> bool:
        """False once it has ended; it stays a zombie, and its number its own, until `bury`."""
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
        except ChildProcessError:
            return False

    def wait_until(self, ready: Callable[[], bool], *, timeout_s: float = 60.0) -> None:
        """Return once it is ready. Raises PartError when it ends first, or takes longer."""
        deadline = time.monotonic() + timeout_s
        while not ready():
            if not self.running():
                raise PartError(self.part, f"ended at its start ({self.bury()})")
            if time.monotonic() > deadline:
                raise PartError(self.part, f"was not ready after {timeout_s:.0f} s")
            time.sleep(0.02)

    def ask_to_stop(self) -> None:
        """Send its stop signal; returns at once."""
        self._process.send_signal(self.part.stop_signal)

    def bury(self) -> str:
        """Kill what is left of its session, and say how it ended: "exit status 1", "SIGKILL"."""
        processes.kill_session(self.pid)
        status = self._process.wait()
        return f"exit status {status}" if status >= 0 else signal.Signals(-status).name


def end(children: Sequence[Child]) -> None:
    """Ask all of them to stop, wait their grace, then kill whatever is left of their sessions."""
    for child in children:
        child.ask_to_stop()
    asked = time.monotonic()
    for child in children:
        while child.running() and time.monotonic() < asked + child.part.grace_s:
            time.sleep(0.02)
        child.bury()


def _last_words(log: Path) -> str:
    """The last line of the log: what one of our parts says, or what PostgreSQL could not do."""
    lines = log.read_bytes()[-4096:].decode(errors="replace").split("\n")
    return next((logs.last_event(line.strip()) for line in reversed(lines) if line.strip()), "it wrote nothing")
