"""The whole of Modescope on one machine, as a context: `with Service(...) as service: service.address ...`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from orchestrator.contracts.errors import ModescopeError
from orchestrator.embedded import endpoint, home, journal, parts, postgres, postgres_programs, redis
from orchestrator.embedded.accounts import service_account
from orchestrator.embedded.home import Home
from orchestrator.embedded.supervisor import Supervisor


class StoppedError(ModescopeError):
    """Stopped before everything had started."""


class Service:
    """PostgreSQL, Redis, API, controller, agents and an analysis worker in one home folder.

    Children are started, watched and ended by one thread, so that no signal to the main thread can interrupt a start
    halfway. Entering returns when every part has started and the API answers. Raises HomeError, SchemaError,
    MissingPartError, PartError; leaving raises PartError when a part kept dying meanwhile.
    """

    def __init__(
        self,
        folder: Path,
        *,
        nodes: int = 1,
        port: int | None = None,
        progress: Callable[[str], None] = lambda _what: None,
    ) -> None:
        """`progress` is told what is being started, from another thread."""
        self.folder = folder.absolute()
        self.address = ""
        self.token = ""
        self.pids: Mapping[str, int] = {}
        """Process ids by part (postgres, redis, api, controller, agent-local-1, ..., analysis-worker) at its start."""
        self._nodes = nodes
        self._wanted_port = port
        self._progress = progress
        self._failure: Exception | None = None
        self._started = threading.Event()
        self._stop = threading.Event()
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
        self._thread.join()
        self._raise_failure()

    def _end(self) -> None:
        self._stop.set()
        self._thread.join()

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            with home.opened(self.folder, postgres_major=postgres_programs.major_version()) as where:
                self._serve(where)
        except Exception as error:
            self._failure = error
        finally:
            self._started.set()

    def _serve(self, where: Home) -> None:
        journal.end_leftovers(where.journal)
        supervisor = Supervisor(where.journal)
        try:
            self._start(where, supervisor)
            self.pids = supervisor.pids
            self._started.set()
            supervisor.watch(self._stop)
        finally:
            supervisor.end()

    def _start(self, where: Home, supervisor: Supervisor) -> None:
        port = endpoint.free_port(self._wanted_port)
        self.address = f"http://{endpoint.LOOPBACK}:{port}"
        self.token = endpoint.token(where.endpoint)
        commands = parts.Commands(
            home=where,
            environment=parts.environment(
                home=where.folder,
                database_url=self._start_postgres(where, supervisor),
                redis_url=self._start_redis(where, supervisor),
                token=self.token,
            ),
        )
        self._step("API")
        supervisor.start(commands.api(port), ready=lambda: endpoint.answers(port))
        self._step("controller, agents and analysis worker")
        supervisor.start(commands.controller())
        for number in range(1, self._nodes + 1):
            supervisor.start(commands.agent(f"local-{number}"))
        supervisor.start(commands.analysis_worker())
        endpoint.write(where.endpoint, address=self.address, token=self.token)

    def _start_postgres(self, where: Home, supervisor: Supervisor) -> str:
        self._step("PostgreSQL")
        account = service_account()
        cluster = postgres.prepare(
            data=where.data / "postgres",
            sockets=where.sockets / "postgres.run",
            programs=postgres_programs.usable(account, copy_to=where.data / "programs"),
            account=account,
        )
        server = postgres.part(cluster, where.logs / "postgres.log")
        supervisor.start(server, ready=lambda: postgres.ready(cluster))
        postgres.create_database(cluster)
        self._step("the database's schema")
        from orchestrator.store import schema

        schema.upgrade(cluster.url())
        return cluster.url()

    def _start_redis(self, where: Home, supervisor: Supervisor) -> str:
        self._step("Redis")
        folder = where.sockets / "redis.run"
        folder.mkdir(mode=0o700, exist_ok=True)
        supervisor.start(redis.part(folder, where.logs / "redis.log"), ready=lambda: redis.ready(folder))
        return redis.broker_url(folder)

    def _step(self, what: str) -> None:
        if self._stop.is_set():
            raise StoppedError
        self._progress(what)
