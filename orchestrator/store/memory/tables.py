"""The rows of the in-memory ledger, and the lock that makes each call on it one transaction."""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar
from uuid import UUID, uuid4

from orchestrator.contracts import campaigns, jobs
from orchestrator.contracts.access import Act, AuditLine, Deed, Token
from orchestrator.contracts.analyses import AnalysisVersion, Result
from orchestrator.contracts.campaigns import Event, EventKind, Submission
from orchestrator.contracts.designs import Setting
from orchestrator.contracts.engines import IMPORTED
from orchestrator.contracts.errors import NotFoundError
from orchestrator.contracts.job_logs import FileSystem, FileSystemSample, ProgramLog, ScheduledJob
from orchestrator.contracts.jobs import Failure, PlannedJob
from orchestrator.contracts.lockstep import CriticalNode
from orchestrator.contracts.nodes import Hello, NodeState
from orchestrator.contracts.rates import Forecast, NodeRate
from orchestrator.contracts.rounds import Round
from orchestrator.contracts.runs import Run, Validity

if TYPE_CHECKING:
    from orchestrator.store.memory.access import SignInRow


@dataclass(kw_only=True, slots=True, eq=False)
class CampaignRow:
    """A campaign and what hangs on it."""

    id: int
    submission: Submission
    created_at: float
    state: campaigns.State = campaigns.State.RUNNING
    paused: bool = False
    started_at: float | None = None
    """First claim."""
    ended_at: float | None = None
    missing: Mapping[str, int] = field(default_factory=dict)
    settings: list[SettingRow] = field(default_factory=list)
    jobs: list[JobRow] = field(default_factory=list)
    """In the order in which they are handed out."""
    runs: list[RunRow] = field(default_factory=list)
    """In the order in which they came in."""
    shares: Counter[tuple[str, Validity]] = field(default_factory=Counter)
    """(node, validity) -> number of runs."""
    members: set[str] = field(default_factory=set)
    """Nodes that have a share of its jobs (balanced, pinned)."""
    lost: set[str] = field(default_factory=set)
    """Nodes whose share the others have, because they were away for long."""
    rounds: list[Round] = field(default_factory=list)
    """Of a campaign that grows: those that have ended."""
    analysis_version: int = 1
    """Which of `versions` is shown."""
    versions: list[AnalysisVersion] = field(default_factory=list)

    @property
    def valid_runs(self) -> int:
        return sum(count for (_, validity), count in self.shares.items() if validity is Validity.VALID)

    @property
    def expected_runs(self) -> int:
        return self.submission.design.run_count(self.submission.replicates)

    @property
    def takes_work(self) -> bool:
        return self.state is campaigns.State.RUNNING and not self.paused


@dataclass(kw_only=True, slots=True, eq=False)
class SettingRow:
    """A setting with its runs and analyses."""

    id: int
    campaign: CampaignRow
    setting: Setting
    runs: dict[int, list[RunRow]] = field(default_factory=dict)
    """Replicate -> every run of it, in the order in which they came in."""
    valid: dict[int, RunRow] = field(default_factory=dict)
    """Replicate -> the run that counts."""
    jobs: list[JobRow] = field(default_factory=list)
    analyses: list[AnalysisRow] = field(default_factory=list)
    """Of the sample as it is, those that are shown."""
    retired: list[AnalysisRow] = field(default_factory=list)
    """Of the sample as it was, and of versions that are not shown."""

    @property
    def replicates(self) -> int:
        """How many make its sample complete."""
        own = self.setting.replicates
        return self.campaign.submission.replicates if own is None else own


@dataclass(kw_only=True, slots=True, eq=False)
class Attempt:
    """One claim of a job, and how it ended if it failed."""

    node: str
    failure: Failure | None = None
    valid_runs: int = 0
    """New valid runs it brought, early or late."""


@dataclass(kw_only=True, slots=True, eq=False)
class JobRow:
    """A job; `transitions.move` is the only thing that changes its state."""

    id: int
    campaign: CampaignRow
    setting: SettingRow
    planned: PlannedJob
    state: jobs.State = jobs.State.QUEUED
    own: str | None = None
    """The only node that may have it, as the study says (pinned) or as it was dealt (balanced)."""
    node: str | None = None
    """Where it is offered, leased or was done."""
    offered_at: float = 0.0
    session: UUID | None = None
    token: UUID | None = None
    """Of the latest claim; it counts only while the job is leased."""
    lease_until: float = 0.0
    attempts: list[Attempt] = field(default_factory=list)
    reason: str | None = None
    """Why it was set aside."""
    done_at: float | None = None
    round_begun: bool = False
    """Lockstep: somebody has begun its round, and it is left over if it still waits."""
    ready_at: float | None = None
    """When the holder of this attempt had prepared its node."""
    start_at: float | None = None
    """The common instant at which this attempt was to begin."""

    @property
    def replicates(self) -> range:
        return range(self.planned.first_replicate, self.planned.first_replicate + self.planned.replicates)

    @property
    def missing(self) -> list[int]:
        """Replicates that have no valid run yet."""
        return [replicate for replicate in self.replicates if replicate not in self.setting.valid]


@dataclass(kw_only=True, slots=True, eq=False)
class RunRow:
    """A run as it was made, and what the ledger says about it."""

    run: Run
    node: str
    job: JobRow
    validity: Validity
    recorded_at: float

    @property
    def has_pace(self) -> bool:
        """Does it tell how fast runs come in? One that was imported does not."""
        return self.validity is Validity.VALID and self.run.engine != IMPORTED


@dataclass(kw_only=True, slots=True, eq=False)
class AnalysisRow:
    """One configuration to analyse."""

    id: int
    setting: SettingRow
    mode: str
    digest: str
    options_version: int = 1
    version: str | None = None
    """Of the code that has it, or had it last."""
    token: UUID | None = None
    lease_until: float = 0.0
    result: Result | None = None
    verdict: str | None = None
    sentence: str | None = None
    dip_q: float | None = None
    final: bool = False
    confirmation: Mapping[str, Any] | None = None

    @property
    def selection(self) -> Mapping[str, Any]:
        """Empty until analysed, and where no fit was possible."""
        return self.result.selection or {} if self.result is not None else {}


@dataclass(kw_only=True, slots=True, eq=False)
class FlagRow:
    """A flag that a re-run measured again, to be judged or judged."""

    campaign_id: int
    first: AnalysisRow
    again: AnalysisRow
    dip_q: float
    token: UUID | None = None
    lease_until: float = 0.0
    done: bool = False
    confirmation: Mapping[str, Any] | None = None


@dataclass(kw_only=True, slots=True, eq=False)
class SessionRow:
    """One life of an agent."""

    id: UUID
    node: NodeRow
    seen_at: float
    ended: bool = False


@dataclass(kw_only=True, slots=True, eq=False)
class NodeRow:
    """A node, its current session and what it has in hand."""

    name: str
    hello: Hello
    state: NodeState = NodeState.READY
    reason: str | None = None
    session: SessionRow | None = None
    """The latest one, ended or not."""
    offline_since: float | None = None
    """As the reconciler saw it; None: online."""
    leased: JobRow | None = None
    offered: list[JobRow] = field(default_factory=list)
    strikes: int = 0
    last_strike: JobRow | None = None


class Tables:
    """All rows, the clock and the lock."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.clock = clock
        self.ledger = uuid4()
        self.changed = threading.Condition(threading.RLock())
        self.changes = 0
        self.reconciled_at = clock()
        self.campaigns: dict[int, CampaignRow] = {}
        self.settings: dict[int, SettingRow] = {}
        self.jobs: dict[int, JobRow] = {}
        self.runs: dict[UUID, RunRow] = {}
        self.analyses: dict[int, AnalysisRow] = {}
        self.flags: dict[int, FlagRow] = {}
        """By the analysis of the new runs."""
        self.sessions: dict[UUID, SessionRow] = {}
        self.nodes: dict[str, NodeRow] = {}
        self.events: list[Event] = []
        self.node_rates: dict[tuple[int, str], NodeRate] = {}
        """By campaign and node; so is when a change of the rate was told last."""
        self.rates_told_at: dict[tuple[int, str], float] = {}
        self.critical_nodes: dict[tuple[int, str], CriticalNode] = {}
        """By campaign and node."""
        self.forecasts: dict[int, tuple[float, Forecast]] = {}
        """Campaign -> when it was told, and what."""
        self.tokens: dict[str, Token] = {}
        """By digest."""
        self.sign_ins: dict[str, SignInRow] = {}
        """By digest."""
        self.audit_lines: list[AuditLine] = []
        self.scheduled_jobs: dict[str, ScheduledJob] = {}
        self.program_logs: dict[str, ProgramLog] = {}
        self.log_file_systems: dict[str, FileSystem] = {}
        self.log_mounts: dict[str, str] = {}
        self.file_system_samples: dict[tuple[str, float], FileSystemSample] = {}
        self._ids: Iterator[int] = itertools.count(1)

    def new_id(self) -> int:
        return next(self._ids)

    def now(self) -> float:
        return self.clock()

    def campaign(self, campaign_id: int) -> CampaignRow:
        """Raises NotFoundError."""
        found = self.campaigns.get(campaign_id)
        if found is None:
            raise NotFoundError(f"campaign {campaign_id}: there is none; `modescope campaign list` shows all")
        return found

    def jobs_in(self, states: Collection[jobs.State]) -> Iterator[JobRow]:
        """Jobs in one of these states, in the order in which they are handed out."""
        return (job for campaign in self.campaigns.values() for job in campaign.jobs if job.state in states)

    def tell(self, kind: EventKind, message: str, *, campaign_id: int | None = None, node: str | None = None) -> None:
        """Write an event."""
        number = len(self.events) + 1
        self.events.append(
            Event(id=number, at=self.now(), kind=kind, message=message, campaign_id=campaign_id, node=node)
        )

    def audit(self, act: Act | None, what: Deed, subject: str) -> None:
        """Write who did it; nothing for what nobody asked for."""
        if act is not None:
            line = AuditLine(
                id=len(self.audit_lines) + 1, at=self.now(), who=act.who, what=what, subject=subject, origin=act.origin
            )
            self.audit_lines.append(line)

    def notify(self) -> None:
        """Wake whoever waits for a change."""
        with self.changed:
            self.changes += 1
            self.changed.notify_all()


class HasTables(Protocol):
    """A part of the store."""

    @property
    def tables(self) -> Tables: ...


_Part = TypeVar("_Part", bound=HasTables)
_P = ParamSpec("_P")
_R = TypeVar("_R")


def transaction(method: Callable[Concatenate[_Part, _P], _R]) -> Callable[Concatenate[_Part, _P], _R]:
    """One call at a time. What a method refuses, it refuses before it changes anything."""

    @wraps(method)
    def locked(part: _Part, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        with part.tables.changed:
            return method(part, *args, **kwargs)

    return locked
