"""All ports together."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from orchestrator.contracts.access import Act
from orchestrator.store.ports.analysing import Analyses, Findings, Flags, Versions
from orchestrator.store.ports.job_logs import JobLogs
from orchestrator.store.ports.measuring import Campaigns, Jobs, Rounds, Runs
from orchestrator.store.ports.steering import Control, Lockstep, Nodes, Rates
from orchestrator.store.ports.telling import Access, Overviews


class Store(Protocol):
    """All of it."""

    @property
    def campaigns(self) -> Campaigns: ...
    @property
    def jobs(self) -> Jobs: ...
    @property
    def runs(self) -> Runs: ...
    @property
    def analyses(self) -> Analyses: ...
    @property
    def flags(self) -> Flags: ...
    @property
    def versions(self) -> Versions: ...
    @property
    def rounds(self) -> Rounds: ...
    @property
    def findings(self) -> Findings: ...
    @property
    def nodes(self) -> Nodes: ...
    @property
    def control(self) -> Control: ...
    @property
    def access(self) -> Access: ...
    @property
    def overviews(self) -> Overviews: ...
    @property
    def rates(self) -> Rates: ...
    @property
    def lockstep(self) -> Lockstep: ...
    @property
    def job_logs(self) -> JobLogs: ...

    def on_behalf_of(self, act: Act) -> Store:
        """The same store; what is changed through it leaves a line in the audit log, in the same transaction."""

    @property
    def ledger(self) -> UUID:
        """Which database this is; every spool names it."""

    def hang_up(self) -> None:
        """Hold no connection until the next call: something is measured for a while now, or there is nothing to do."""

    def close(self) -> None:
        """Give connections back."""
