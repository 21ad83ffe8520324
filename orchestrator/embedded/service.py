"""The whole of Modescope on one machine, as a context: `with Service(folder) as service: service.address ...`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from orchestrator.embedded import home, journal, postgres_programs
from orchestrator.embedded.startup import Startup
from orchestrator.embedded.supervisor import Supervisor


class Service:
    """PostgreSQL, Redis, API, controller, agents and an analysis worker in one home folder.

    Children are started, watched and ended by one thread, so that no signal to the main thread can interrupt a start
    halfway. Entering returns when the API answers and the agents are online; it raises HomeError, MissingPartError,
    SchemaError, UserError or PartError. Leaving stops everything in order; it raises PartError when a part kept dying.
    """

    def __init__(
        self,
        folder: Path,
        *,
        nodes: int = 1,
        port: int | None = None,
        progress: Callable[[str], None] = lambda _what: None,
    ) -> None:
        """`progress` is told what is being started, from another thread; a `port` of None is any free one."""
        self.folder = folder.absolute()
        self.address = ""
        self.token = ""
        self.sign_in_link: str | None = None
        """Only when the home is new: its token is shown once."""
        self.pids: Mapping[str, int] = {}
        """Process ids by part (postgres, redis, api, controller, agent-local-1, ..., analysis-worker) at its start."""
        self._nodes = nodes
        self._port = port
        self._progress = progress
        self._failure: Exception | None = None
        self._started = threading.Event()
        self._stop = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="modescope-service")

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._started.wait()
        except BaseException:
            self._end()
            raise
        self._raise_failure()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end()
        if error is None:
            self._raise_failure()

    def wait(self) -> None:
        """Block while the service runs; raises PartError when it had to be stopped because a part kept dying."""
        self._ended.wait()
        self._raise_failure()

    def _end(self) -> None:
        self._stop.set()
        self._ended.wait()  # before Python 3.13, a `join` that a signal interrupts takes the thread for ended
        self._thread.join()

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            with home.opened(self.folder, postgres_major=postgres_programs.major_version()) as opened:
                journal.end_leftovers(opened.journal)
                self._serve(opened)
        except Exception as error:
            self._failure = error
        finally:
            self._started.set()
            self._ended.set()

    def _serve(self, opened: home.Home) -> None:
        supervisor = Supervisor(opened.journal, self._stop)
        try:
            startup = Startup(home=opened, supervisor=supervisor, progress=self._progress)
            endpoint = startup.start(nodes=self._nodes, port=self._port)
            self.address, self.token, self.pids = endpoint.address, endpoint.token, supervisor.pids
            self.sign_in_link = endpoint.sign_in_link if endpoint.new else None
            self._started.set()
            supervisor.watch()
        finally:
            supervisor.end()
