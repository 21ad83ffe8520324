"""The order in which a service starts: the ledger, its schema, Redis, the doors, then who does the work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.client import Client
from orchestrator.embedded import endpoint, parts, postgres, postgres_programs, redis
from orchestrator.embedded.accounts import service_account
from orchestrator.embedded.children import Part
from orchestrator.embedded.home import Home
from orchestrator.embedded.supervisor import Supervisor
from orchestrator.store import schema


@dataclass(frozen=True, kw_only=True, slots=True)
class Startup:
    """What is needed to start a service in a home."""

    home: Home
    supervisor: Supervisor
    progress: Callable[[str], None]

    def start(self, *, nodes: int, port: int | None) -> endpoint.Endpoint:
        """Start every part; returns when the API answers and the agents have reported for work.

        Raises HomeError, MissingPartError, SchemaError, UserError (the port), PartError, StoppedError.
        """
        reached = endpoint.choose(self.home.endpoint, port)
        commands = parts.Commands(
            home=self.home,
            environment=parts.environment(
                home=self.home.folder,
                database_url=self._start_postgres(),
                redis_url=self._start_redis(),
                token=reached.token,
            ),
        )
        self.progress("API")
        self._start_and_wait(commands.api(reached.port), ready=reached.answers)
        self.progress("controller, agents and analysis worker")
        self.supervisor.start(commands.controller())
        self.supervisor.start(commands.analysis_worker())
        self._start_agents(reached, [commands.agent(f"local-{number}") for number in range(1, nodes + 1)])
        endpoint.write(self.home.endpoint, reached)
        return reached

    def _start_postgres(self) -> str:
        self.progress("PostgreSQL")
        account = service_account()
        cluster = postgres.prepare(
            data=self.home.data / "postgres",
            sockets=self.home.postgres_sockets,
            programs=postgres_programs.usable(account, copy_to=self.home.data / "programs"),
            account=account,
        )
        server = postgres.part(cluster, self.home.logs / "postgres.log")
        self._start_and_wait(server, ready=lambda: postgres.ready(cluster))
        postgres.create_database(cluster)
        self.progress("the database's schema")
        schema.upgrade(cluster.url())
        return cluster.url()

    def _start_redis(self) -> str:
        self.progress("Redis")
        folder = self.home.redis_sockets
        folder.mkdir(mode=0o700, exist_ok=True)
        self._start_and_wait(redis.part(folder, self.home.logs / "redis.log"), ready=lambda: redis.ready(folder))
        return redis.broker_url(folder)

    def _start_agents(self, reached: endpoint.Endpoint, agents: list[Part]) -> None:
        """All at once; they are ready when the ledger knows their sessions."""
        for agent in agents:
            self.supervisor.start(agent)
        with Client(reached.address, reached.token) as client:
            for agent in agents:
                self.supervisor.wait_until(agent, lambda: _online(client) >= len(agents))

    def _start_and_wait(self, part: Part, *, ready: Callable[[], bool]) -> None:
        self.supervisor.start(part)
        self.supervisor.wait_until(part, ready)


def _online(client: Client) -> int:
    return sum(node.online for node in client.nodes())
