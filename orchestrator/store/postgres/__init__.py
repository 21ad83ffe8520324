"""The store on PostgreSQL: the truth of every campaign (DESIGN 1)."""

from __future__ import annotations

from functools import cached_property
from uuid import UUID

from sqlalchemy import select

from orchestrator.contracts.access import Act
from orchestrator.store.models import Ledger
from orchestrator.store.postgres.access import PostgresAccess
from orchestrator.store.postgres.analyses import PostgresAnalyses
from orchestrator.store.postgres.campaigns import PostgresCampaigns
from orchestrator.store.postgres.connection import Database
from orchestrator.store.postgres.control import PostgresControl
from orchestrator.store.postgres.findings import PostgresFindings
from orchestrator.store.postgres.flags import PostgresFlags
from orchestrator.store.postgres.job_logs import PostgresJobLogs
from orchestrator.store.postgres.jobs import PostgresJobs
from orchestrator.store.postgres.lockstep import PostgresLockstep
from orchestrator.store.postgres.nodes import PostgresNodes
from orchestrator.store.postgres.overviews import PostgresOverviews
from orchestrator.store.postgres.rates import PostgresRates
from orchestrator.store.postgres.rounds import PostgresRounds
from orchestrator.store.postgres.runs import PostgresRuns
from orchestrator.store.postgres.versions import PostgresVersions


class PostgresStore:
    """All ports on one database.

    `keep`: connections that stay open between calls, until `hang_up`.
    """

    def __init__(self, database_url: str, *, keep: int = 0) -> None:
        self._open(Database(database_url, keep=keep), None)

    def _open(self, database: Database, act: Act | None) -> None:
        self._database = database
        self.campaigns = PostgresCampaigns(self._database, act)
        self.jobs = PostgresJobs(self._database)
        self.runs = PostgresRuns(self._database)
        self.analyses = PostgresAnalyses(self._database)
        self.flags = PostgresFlags(self._database)
        self.versions = PostgresVersions(self._database, act)
        self.rounds = PostgresRounds(self._database)
        self.findings = PostgresFindings(self._database)
        self.nodes = PostgresNodes(self._database, act)
        self.control = PostgresControl(self._database)
        self.access = PostgresAccess(self._database, act)
        self.overviews = PostgresOverviews(self._database)
        self.rates = PostgresRates(self._database)
        self.lockstep = PostgresLockstep(self._database)
        self.job_logs = PostgresJobLogs(self._database)

    def on_behalf_of(self, act: Act) -> PostgresStore:
        """The same connections; what is changed through it is audited."""
        view = PostgresStore.__new__(PostgresStore)
        view._open(self._database, act)
        return view

    @cached_property
    def ledger(self) -> UUID:
        """Which database this is."""
        with self._database.reading() as connection:
            return connection.execute(select(Ledger.id)).scalar_one()

    def hang_up(self) -> None:
        """Close connections that are kept for the next call."""
        self._database.hang_up()

    def close(self) -> None:
        """Give connections back."""
        self.control.close()
        self._database.close()
