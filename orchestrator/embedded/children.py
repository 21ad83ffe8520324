"""One part, one child process: started in a session of its own, ended with all of it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.contracts.errors import ModescopeError
from orchestrator.embedded import processes
from orchestrator.embedded.accounts import Account, run_as


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A program to keep running."""

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
        super().__init__(f"{part.name} {what}; its log: {part.log}")


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

    @property
    def exit_status(self) -> int | None:
        """None while it runs; negative for a signal."""
        return self._process.poll()

    def wait_until(self, ready: Callable[[], bool], *, timeout_s: float = 60.0) -> None:
        """Return once it is ready. Raises PartError when it ends first, or takes longer."""
        deadline = time.monotonic() + timeout_s
        while not ready():
            if self.exit_status is not None:
                raise PartError(self.part, f"ended at its start (exit status {self.exit_status})")
            if time.monotonic() > deadline:
                raise PartError(self.part, f"was not ready after {timeout_s:.0f} s")
            time.sleep(0.02)

    def ask_to_stop(self) -> None:
        """Send its stop signal; returns at once."""
        self._process.send_signal(self.part.stop_signal)

    def end(self) -> None:
        """Ask it to stop, wait its grace, then kill whatever is left of its session."""
        self.ask_to_stop()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(self.part.grace_s)
        processes.kill_session(self.pid)
        self._process.wait()
