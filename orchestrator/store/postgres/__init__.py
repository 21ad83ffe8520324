"""The store on PostgreSQL: the truth of every campaign (DESIGN 1)."""

from __future__ import annotations

from functools import cached_property
from uuid import UUID

from sqlalchemy import select

from orchestrator.store.models import Ledger
from orchestrator.store.postgres.analyses import PostgresAnalyses
from orchestrator.store.postgres.campaigns import PostgresCampaigns
from orchestrator.store.postgres.connection import Database
from orchestrator.store.postgres.control import PostgresControl
from orchestrator.store.postgres.jobs import PostgresJobs
from orchestrator.store.postgres.nodes import PostgresNodes
from orchestrator.store.postgres.runs import PostgresRuns


class PostgresStore:
    """All ports on one database.

    `keep`: connections that stay open between calls. 0 for an agent, whose connection must be closed before a run.
    """

    def __init__(self, database_url: str, *, keep: int = 0) -> None:
        self._database = Database(database_url, keep=keep)
        self.campaigns = PostgresCampaigns(self._database)
        self.jobs = PostgresJobs(self._database)
        self.runs = PostgresRuns(self._database)
        self.analyses = PostgresAnalyses(self._database)
        self.nodes = PostgresNodes(self._database)
        self.control = PostgresControl(self._database)

    @cached_property
    def ledger(self) -> UUID:
        """Which database this is."""
        with self._database.reading() as connection:
            return connection.execute(select(Ledger.id)).scalar_one()

    def close(self) -> None:
        """Give connections back."""
        self.control.close()
        self._database.close()
