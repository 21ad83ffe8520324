"""Keeps the children running: starts again what dies, and ends all of them in order."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from orchestrator.contracts.errors import ModescopeError
from orchestrator.embedded import children, journal
from orchestrator.embedded.children import Child, Part, PartError, Role
from orchestrator.embedded.restarts import MOST, WITHIN_S, Restarts

WATCH_EVERY_S = 0.2


class StoppedError(ModescopeError):
    """Stopped before everything had started."""


class Supervisor:
    """The children of one service; used by one thread."""

    def __init__(self, journal_path: Path, stop: threading.Event) -> None:
        """`stop` ends waiting and watching; set by another thread."""
        self._journal_path = journal_path
        self._stop = stop
        self._service = secrets.token_hex(8)
        self._children: dict[str, Child] = {}
        self._restarts: dict[str, Restarts] = {}
        self._due: dict[str, tuple[float, Part]] = {}
        """Part's name -> when it is to be started again (monotonic seconds), and how."""
        self._write_journal()  # the mark is on disk before the first child bears it

    @property
    def pids(self) -> dict[str, int]:
        """Process ids of the parts that run, by name."""
        return {name: child.pid for name, child in self._children.items()}

    def start(self, part: Part) -> None:
        """Start a part, with the mark of this service."""
        child = Child(replace(part, environment={**part.environment, journal.MARK: self._service}))
        self._children[part.name] = child
        self._write_journal()

    def wait_until(self, part: Part, ready: Callable[[], bool]) -> None:
        """Return once the started part is ready.

        Raises PartError when it ends first or takes too long, StoppedError when asked to stop.
        """

        def ready_unless_stopped() -> bool:
            if self._stop.is_set():
                raise StoppedError
            return ready()

        self._children[part.name].wait_until(ready_unless_stopped)

    def watch(self) -> None:
        """Restart what dies, with back-off, until asked to stop. Raises PartError for a part that keeps dying."""
        while not self._stop.wait(WATCH_EVERY_S):
            for child in self._dead():
                self._plan_restart(child)
            self._restart_due()

    def end(self) -> None:
        """End every child, role by role; nothing is left for the next start to find."""
        for role in Role:
            children.end([child for child in self._children.values() if child.part.role is role])
        self._journal_path.unlink()

    def _dead(self) -> list[Child]:
        return [child for child in self._children.values() if not child.running()]

    def _plan_restart(self, child: Child) -> None:
        how = child.bury()
        del self._children[child.part.name]
        now = time.monotonic()
        delay_s = self._restarts.setdefault(child.part.name, Restarts()).delay_s(now)
        if delay_s is None:
            raise PartError(child.part, f"died {MOST + 1} times within {WITHIN_S:.0f} s, at last with {how}")
        self._due[child.part.name] = (now + delay_s, child.part)

    def _restart_due(self) -> None:
        for name, (due, part) in list(self._due.items()):
            if time.monotonic() >= due:
                del self._due[name]
                self.start(part)

    def _write_journal(self) -> None:
        journal.write(self._journal_path, self._service, self._children.values())
