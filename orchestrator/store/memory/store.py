"""The in-memory store: every port on one set of tables."""

from __future__ import annotations

import time
from collections.abc import Callable
from uuid import UUID

from orchestrator.contracts.access import Act
from orchestrator.store import ports
from orchestrator.store.memory.access import Access
from orchestrator.store.memory.analyses import Analyses
from orchestrator.store.memory.campaigns import Campaigns
from orchestrator.store.memory.control import Control
from orchestrator.store.memory.critical_nodes import Lockstep
from orchestrator.store.memory.findings import Findings
from orchestrator.store.memory.flags import Flags
from orchestrator.store.memory.job_logs import JobLogs
from orchestrator.store.memory.jobs import Jobs
from orchestrator.store.memory.nodes import Nodes
from orchestrator.store.memory.overviews import Overviews
from orchestrator.store.memory.rates import Rates
from orchestrator.store.memory.rounds import Rounds
from orchestrator.store.memory.runs import Runs
from orchestrator.store.memory.tables import Tables
from orchestrator.store.memory.versions import Versions


class MemoryStore:
    """A ledger that lasts as long as its process: for tests, for trying, for teaching.

    It keeps the same rules and raises the same errors as the one on PostgreSQL. `clock` gives seconds since the epoch.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._open(Tables(clock), None)

    def _open(self, tables: Tables, act: Act | None) -> None:
        self.tables = tables
        self.campaigns: ports.Campaigns = Campaigns(self.tables, act)
        self.jobs: ports.Jobs = Jobs(self.tables)
        self.runs: ports.Runs = Runs(self.tables)
        self.analyses: ports.Analyses = Analyses(self.tables)
        self.flags: ports.Flags = Flags(self.tables)
        self.versions: ports.Versions = Versions(self.tables, act)
        self.rounds: ports.Rounds = Rounds(self.tables)
        self.findings: ports.Findings = Findings(self.tables)
        self.nodes: ports.Nodes = Nodes(self.tables, act)
        self.control: ports.Control = Control(self.tables)
        self.access: ports.Access = Access(self.tables, act)
        self.overviews: ports.Overviews = Overviews(self.tables)
        self.rates: ports.Rates = Rates(self.tables)
        self.lockstep: ports.Lockstep = Lockstep(self.tables)
        self.job_logs: ports.JobLogs = JobLogs(self.tables)

    def on_behalf_of(self, act: Act) -> MemoryStore:
        """The same tables; changes made through it are audited."""
        view = MemoryStore.__new__(MemoryStore)
        view._open(self.tables, act)
        return view

    @property
    def ledger(self) -> UUID:
        return self.tables.ledger

    def hang_up(self) -> None:
        """There is no connection."""

    def close(self) -> None:
        """Nothing to give back."""
