"""Both stores with what a test may do to them behind the port's back: let time pass."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

import psycopg

from orchestrator.contracts.jobs import State
from orchestrator.store import ports
from orchestrator.store.memory import MemoryStore
from orchestrator.store.postgres import PostgresStore


class StoreUnderTest(ports.Store, Protocol):
    """A store whose clock tests can get round."""

    def expire_leases(self) -> None:
        """Every lease on a job ran out a second ago, while the controllers were watching."""

    def forget_node(self, name: str) -> None:
        """The node was last heard of an hour ago."""

    def leave_alone(self, seconds: float) -> None:
        """No controller has reconciled for so long."""

    def pass_time(self, seconds: float) -> None:
        """So much time goes by in which the controllers watch, and nobody else says anything."""

    def job_states(self) -> dict[int, State]:
        """Job id -> state, of every job there is."""

    def wipe(self) -> None:
        """Make the store empty again."""


class MemoryUnderTest(MemoryStore):
    """The in-memory store."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._passed_s = 0.0
        super().__init__(lambda: clock() + self._passed_s)

    def expire_leases(self) -> None:
        for job in self.tables.jobs_in({State.LEASED}):
            job.lease_until = self.tables.now() - 1
        self.leave_alone(0)

    def forget_node(self, name: str) -> None:
        session = self.tables.nodes[name].session
        if session is not None:
            session.seen_at = self.tables.now() - 3600

    def leave_alone(self, seconds: float) -> None:
        self.tables.reconciled_at = self.tables.now() - seconds

    def pass_time(self, seconds: float) -> None:
        self._passed_s += seconds
        self.leave_alone(0)

    def job_states(self) -> dict[int, State]:
        return {job.id: job.state for job in self.tables.jobs.values()}

    def wipe(self) -> None:
        self.__init__()  # type: ignore[misc]  # as on the first day


class PostgresUnderTest(PostgresStore):
    """The store on PostgreSQL."""

    def __init__(self, database_url: str) -> None:
        super().__init__(database_url, keep=2)
        self._behind = psycopg.connect(database_url, autocommit=True)

    def expire_leases(self) -> None:
        self._behind.execute("UPDATE jobs SET lease_until = clock_timestamp() - interval '1 s' WHERE state = 'leased'")
        self.leave_alone(0)

    def forget_node(self, name: str) -> None:
        self._behind.execute("UPDATE nodes SET seen_at = clock_timestamp() - interval '1 h' WHERE name = %s", [name])

    def leave_alone(self, seconds: float) -> None:
        self._behind.execute(
            "UPDATE ledger SET reconciled_at = clock_timestamp() - make_interval(secs => %s)", [seconds]
        )

    def pass_time(self, seconds: float) -> None:
        for table, columns in {
            "nodes": ("seen_at", "offline_since"),
            "jobs": ("lease_until", "offered_at", "ready_at"),
            "campaigns": ("created_at",),
        }.items():
            moves = ", ".join(f"{column} = {column} - make_interval(secs => %(s)s)" for column in columns)
            self._behind.execute(f"UPDATE {table} SET {moves}".encode(), {"s": seconds})  # noqa: S608 - our own words

    def job_states(self) -> dict[int, State]:
        return {job_id: State(state) for job_id, state in self._behind.execute("SELECT id, state FROM jobs")}

    def wipe(self) -> None:
        tables = (
            "SELECT string_agg(tablename, ', ') FROM pg_tables WHERE schemaname = 'public' AND tablename <> ALL (%s)"
        )
        row = self._behind.execute(tables, [["ledger", "alembic_version"]]).fetchone()
        assert row is not None
        self._behind.execute(f"TRUNCATE {row[0]} RESTART IDENTITY".encode())
        self.control.close()  # who listens and never reads makes the server wait, and DROP DATABASE with it
        self.leave_alone(0)

    def close(self) -> None:
        self._behind.close()
        super().close()
