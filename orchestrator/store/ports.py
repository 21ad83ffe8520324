"""What the rest of Modescope may ask of the store: one small port per noun.

Two adapters stand behind it: `store.postgres` and `store.memory`; one contract suite holds both to these words
(tests/contract/). No method compares clocks of two machines: all times are the store's own.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from orchestrator.contracts.access import Act, AuditLine, Scope, Token
from orchestrator.contracts.analyses import (
    AnalysisVersion,
    Batch,
    Fitted,
    FlagBatch,
    Judgement,
    RepeatedFlag,
    Result,
)
from orchestrator.contracts.campaigns import (
    Campaign,
    Configuration,
    Event,
    ExportRow,
    Progress,
    Submission,
)
from orchestrator.contracts.circumstances import Circumstance
from orchestrator.contracts.designs import Design
from orchestrator.contracts.figures import Figures
from orchestrator.contracts.findings import ConfigurationPage, EngineUse, Outcome, RunPage, Summary
from orchestrator.contracts.job_logs import FileSystem, FileSystemSample, LogCounts, ProgramLog, ScheduledJob
from orchestrator.contracts.jobs import Assignment, Ending, Failure, HandedOver, Job, LineUp, Renewal, State
from orchestrator.contracts.lockstep import CriticalNode, Finish
from orchestrator.contracts.nodes import Hello, Node
from orchestrator.contracts.overviews import NodeWork, Overview, Pace
from orchestrator.contracts.rates import Completion, Forecast, FoundRate, NodeRate, OpenWork
from orchestrator.contracts.rounds import Decision, Due, Round
from orchestrator.contracts.runs import Receipt, Run
from orchestrator.store import rules


class Campaigns(Protocol):
    """Studies as submitted."""

    def submit(self, submission: Submission) -> tuple[Campaign, bool]:
        """Store a campaign with its settings and jobs, all or nothing; True when it is new.

        The same idempotency key with the same digest returns the first campaign; with another digest ConflictError.
        """

    def get(self, campaign_id: int) -> Campaign:
        """Raises NotFoundError."""

    def all(self) -> list[Campaign]:
        """Newest first."""

    def study(self, campaign_id: int) -> Submission:
        """What was submitted, without its jobs (`jobs` is empty). Raises NotFoundError."""

    def design(self, campaign_id: int) -> Design:
        """Its settings in order."""

    def progress(self, campaign_id: int) -> Progress:
        """Counters; costs the same at any number of runs."""

    def pause(self, campaign_id: int) -> Campaign:
        """Nothing new is claimed; agents stop before their next run. Raises ConflictError when it has ended."""

    def resume(self, campaign_id: int) -> Campaign:
        """Undo `pause`."""

    def cancel(self, campaign_id: int) -> Campaign:
        """Open jobs become cancelled; runs made so far stay. A second time is a no-op."""

    def give_up(self, campaign_id: int, reason: str) -> int:
        """Set every job aside that nobody holds, for this reason; how many that were.

        Of an imported campaign: what it lacks, nobody can measure.
        """

    def configurations(
        self,
        campaign_id: int,
        *,
        verdict: str | None = None,
        mode: str | None = None,
        levels: Mapping[str, str] | None = None,
        after: tuple[int, str] | None = None,
        limit: int | None = None,
    ) -> list[Configuration]:
        """In order of setting and mode: those behind `after` (ordinal, mode), with these levels (factor -> level).

        A number is a level however it is written: `4` and `4.0`. Raises RequestError for a factor it does not have.
        """

    def version(self, campaign_id: int) -> str:
        """Another text whenever a run has come in or an analysis has moved since; cheap. Raises NotFoundError."""

    def configuration(self, campaign_id: int, setting_id: int, mode: str) -> ConfigurationPage:
        """One configuration with its fit and its runs; costs the same at any number of runs of others.

        Raises NotFoundError.
        """

    def export(self, campaign_id: int) -> Iterator[ExportRow]:
        """Every run, valid or not, a row per mode, in order of setting, replicate, mode; streamed."""

    def invalid_reasons(self, campaign_id: int) -> dict[str, int]:
        """Reason -> number of invalid runs; the report shows them beside the valid ones."""

    def events(
        self, campaign_id: int | None = None, *, before: int | None = None, after: int = 0, limit: int = 100
    ) -> list[Event]:
        """Newest first: those with an id smaller than `before` and larger than `after`."""


class Jobs(Protocol):
    """The ledger of who does what."""

    def claim(self, job_id: int, session: UUID) -> Assignment | None:
        """Lease the job to this session if it may be had now; None otherwise (taken, paused, cancelled, ...)."""

    def renew(self, job_id: int, token: UUID) -> Renewal:
        """Prolong the lease from now. An expired lease nobody took may be renewed by its holder."""

    def line_up(self, job_id: int, token: UUID) -> LineUp:
        """Of a job in lockstep, whose node is prepared: renews the lease, and tells when the round begins, if known.

        All who are ready are given one instant, as soon as nobody else has a job of the round in hand, or the first
        of them has waited for as long as the study says.
        """

    def finish(self, job_id: int, token: UUID, ending: Ending, failure: Failure | None = None) -> bool:
        """Give the job back; False when the token no longer holds it.

        COMPLETE with a replicate missing is a release.
        """

    def hand_over(
        self,
        runs: Sequence[Run],
        job_id: int,
        token: UUID,
        ending: Ending,
        failure: Failure | None = None,
        *,
        next_for: UUID | None = None,
    ) -> HandedOver:
        """`record` and `finish`, and claim the job that was offered first to the node of session `next_for`.

        All of it or nothing. Raises ConflictError as `record` does.
        """

    def held_by(self, node: str) -> list[int]:
        """Jobs leased to any session of this node: what a restarted agent must release."""

    def release_node(self, node: str, session: UUID) -> list[int]:
        """At the start of a session: whatever the node's earlier sessions held goes back to the queue, as `lost`."""

    def of_campaign(
        self, campaign_id: int, *, states: Sequence[State] = tuple(State), after: int = -1, limit: int = 100
    ) -> list[Job]:
        """A campaign's jobs in these states with a position larger than `after`, in the order of their positions."""

    def why(self, campaign_id: int, job_id: int) -> str:
        """Why this job does not run now, in one sentence (or where it runs). Raises NotFoundError."""


class Runs(Protocol):
    """What was measured."""

    def record(self, runs: Sequence[Run]) -> Receipt:
        """Take in a batch, idempotent per run id; completes jobs and opens analyses in the same transaction.

        Raises ConflictError, and stores nothing, when a run does not fit: a session, setting or job that is not
        known here, a replicate outside its job, a wrong number of values.
        """

    def told(self, setting_id: int) -> dict[UUID, Mapping[str, Any]]:
        """`details` and `observed` of the setting's runs, by run id; runs of which nothing was told are left out."""


class Analyses(Protocol):
    """Samples to be fitted."""

    def lease(self, version: str, *, limit: int = 50, lease_s: float = rules.ANALYSIS_LEASE_S) -> Batch | None:
        """A batch of configurations whose sample is complete and not analysed yet; None when there is none."""

    def renew(self, batch: Batch, *, lease_s: float = rules.ANALYSIS_LEASE_S) -> int:
        """Prolong the leases of a batch from now, of those that nobody else took; how many that were."""

    def store(self, batch: Batch, results: Sequence[Result]) -> int:
        """Keep the results whose digest is still current; how many were kept."""

    def unjudged(self, version: str) -> list[int]:
        """Campaigns whose analyses are all done, and whose verdicts are not final."""

    def judge(self, campaign_id: int, version: str, judgements: Sequence[Judgement]) -> bool:
        """Make verdicts final; False (and nothing stored) when an analysis has been opened meanwhile."""

    def fitted(
        self, campaign_id: int, *, verdict: str | None = None, whole: bool = True
    ) -> Generator[Fitted, None, None]:
        """Analysed configurations with sample and selection, in order of setting and mode; streamed.

        Not `whole`: without selections, which are ten times as large as all the rest. Who may not come to its end
        closes it: it holds a connection.
        """


class Flags(Protocol):
    """Flags that a re-run measured again, judged one by one before its verdicts are made final (`Analyses.judge`)."""

    def plan(self, campaign_id: int, flags: Sequence[RepeatedFlag]) -> None:
        """Exactly these are to be judged. What was judged already stays so, unless a fit or its dip q is another."""

    def lease(self, campaign_id: int, *, limit: int, lease_s: float = rules.ANALYSIS_LEASE_S) -> FlagBatch | None:
        """Some that nobody has in hand, and both of whose fits still are those that were planned; None: no such."""

    def renew(self, batch: FlagBatch, *, lease_s: float = rules.ANALYSIS_LEASE_S) -> int:
        """Prolong the leases of a batch from now, of those that nobody else took; how many that were."""

    def store(self, batch: FlagBatch, found: Mapping[int, Mapping[str, Any] | None]) -> int:
        """Keep confirming verdicts by the analysis of the new runs, None: it cannot be judged. How many were kept."""

    def found(self, campaign_id: int) -> Mapping[int, Mapping[str, Any] | None] | None:
        """The confirming verdicts by the analysis of the new runs; None while one is open."""


class Versions(Protocol):
    """A campaign's analysis as it was submitted, and what was changed afterwards. It shows one version at a time.

    Nothing of an earlier version is lost or changed: its fits and verdicts are back when it is shown again.
    """

    def of_campaign(self, campaign_id: int) -> list[AnalysisVersion]:
        """In order, the first as submitted. Raises NotFoundError."""

    def make(self, campaign_id: int, options: Mapping[str, Any], why: str) -> AnalysisVersion:
        """Analyse its samples anew with these options, and show that.

        Raises NotFoundError, and ConflictError while it runs, when it is archived, and for options that a version has.
        """

    def show(self, campaign_id: int, number: int) -> AnalysisVersion:
        """Show this version; what of it is not analysed yet will be. Raises as `make`, NotFoundError for the number."""


class Rounds(Protocol):
    """Campaigns that grow: after each round of measuring, somebody decides what follows (`workers.growing`).

    Such a campaign does not end before it was decided that it has grown enough.
    """

    def due(self) -> list[Due]:
        """Rounds whose runs are all in (or given up) and analysed, and of which nobody has decided what follows."""

    def decide(self, campaign_id: int, decision: Decision) -> bool:
        """Give settings more replicates, and plan the jobs of the next round; or let the campaign end.

        All of it or nothing: False when this round has been decided, is not over, or the campaign has ended.
        """

    def of_campaign(self, campaign_id: int) -> list[Round]:
        """The rounds that have ended, in order."""


class Findings(Protocol):
    """What came out, for pages.

    All but `repeats`, `elapsed_s`, `shares` and `circumstances` raise NotFoundError for what is not there.
    """

    def outcomes(self, campaign_id: int) -> list[Outcome]:
        """Every configuration but controls, in order of setting and mode; in few words, for there are many."""

    def summary(self, campaign_id: int) -> Summary:
        """The study's tables."""

    def repeats(self, campaign_id: int, setting_id: int, mode: str) -> list[Configuration]:
        """The same configuration in the campaign that this one re-runs, and in its re-runs; the oldest first."""

    def elapsed_s(self, campaign_id: int, setting_ids: Collection[int]) -> dict[int, float]:
        """Setting -> mean duration of its first `rules.TIMED` replicates; without those that have no valid run."""

    def shares(self, campaign_id: int, setting_ids: Collection[int]) -> dict[int, dict[str, int]]:
        """Setting -> node -> its valid runs; without settings that have none."""

    def circumstances(self, campaign_id: int, setting_id: int) -> list[Circumstance]:
        """The setting's valid runs in order of start; `Runs.told` has what was observed around them."""

    def engines(self, campaign_id: int) -> list[EngineUse]:
        """What its valid runs were measured with, by node, engine and version; reads all of them."""

    def run(self, campaign_id: int, run_id: UUID) -> RunPage:
        """One run with all that was told and observed."""


class Nodes(Protocol):
    """Who can do the work."""

    def hello(self, hello: Hello) -> None:
        """Register the node, and open the session if it is new; an earlier session of the node ends."""

    def goodbye(self, session: UUID) -> None:
        """The agent stops in good order: its node is offline at once, offers to it are withdrawn."""

    def all(self) -> list[Node]:
        """By name."""

    def drain(self, name: str) -> Node:
        """Give a node no more work: it ends the job it holds, offers are withdrawn. Raises NotFoundError."""

    def reinstate(self, name: str) -> Node:
        """Let a quarantined or draining node work again. Raises NotFoundError."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """A message to be sent: this job to this node. It may be sent again."""

    job_id: int
    node: str


class Control(Protocol):
    """The controller's half: decisions, each one conditional statement."""

    def dispatch(self, *, outstanding: int = 2) -> list[Offer]:
        """Choose jobs for nodes that are online, ready and have fewer than `outstanding` jobs offered or leased.

        None while another controller leads.
        """

    def unengaged(self, offers: Sequence[Offer]) -> tuple[list[Offer], list[Offer]]:
        """Those of which the nodes must be told: of a node that holds no job, the one offered first.

        A node at work takes its next one when it hands over the one it holds. Asked after the offers are committed.
        Second, offers to nodes that hand a job over at this moment, of which it is not known: ask again.
        """

    def unheard(self, *, older_than_s: float = 2.0) -> list[Offer]:
        """Offers to idle nodes whose message may be lost, to be sent again.

        They are older than that, or the node has spoken since: an agent that has found the queue again says so.
        """

    def reconcile(self) -> None:
        """Take back what ended badly: expired leases, offers to nodes that are gone; end campaigns that are over."""

    def analysis_due(self) -> bool:
        """Is there analysis work that nobody has leased?"""

    def wait(self, timeout_s: float) -> bool:
        """Sleep until something changed (a job ended, a campaign came), at most `timeout_s`; did it?

        What changes while another change is being committed may not wake anybody: look again a moment later.
        """

    def leader(self) -> AbstractContextManager[bool]:
        """Hold the controllers' lock for one pass; False when another controller has it."""


class Access(Protocol):
    """Tokens, sign-ins and the audit log. Secrets are known by their digest alone (`contracts.access.digest`)."""

    def issue(self, name: str, scopes: Sequence[Scope], digest: str, *, lasts_s: float | None = None) -> Token:
        """Keep a new token. Raises ConflictError when one of this name is in force."""

    def tokens(self) -> list[Token]:
        """Newest first, also those that are revoked or have expired."""

    def revoke(self, token_id: int) -> Token:
        """End a token and every sign-in that stands on it; again is a no-op. Raises NotFoundError."""

    def holder(self, digest: str) -> Token | None:
        """The token in force with this digest, or behind the sign-in with this digest."""

    def sign_in(self, token_id: int, digest: str, *, lasts_s: float) -> None:
        """Open a sign-in that stands on a token."""

    def sign_out(self, digest: str) -> None:
        """End a sign-in; again is a no-op."""

    def audited(self, *, before: int | None = None, limit: int = 100) -> list[AuditLine]:
        """Newest first, those with a smaller id than `before`."""


class Overviews(Protocol):
    """Many things at a glance, from kept counters: the same cost at any number of runs."""

    def campaigns(self, *, before: int | None = None, limit: int = 50) -> list[Overview]:
        """The newest `limit` campaigns that are no re-run and have a smaller id than `before`, the newest first.

        Each is followed by its re-runs, and theirs, in the order in which they were submitted.
        """

    def family(self, campaign_id: int) -> list[Overview]:
        """The campaign it descends from by re-runs, followed by all that descends from that. Raises NotFoundError."""

    def pace(self, campaign_id: int) -> Pace:
        """How fast its valid runs come in."""

    def set_aside(self, campaign_id: int) -> dict[str, int]:
        """Reason -> how many of its jobs were set aside for it, the most frequent first."""

    def nodes(self) -> list[NodeWork]:
        """By name."""

    def figures(self) -> Figures:
        """The whole service in numbers, for monitoring."""


class Rates(Protocol):
    """How fast nodes work, and how long campaigns will take: what that is learned from, and what was learned."""

    def completions(self, campaign_id: int, *, after: float = 0.0, jobs: int = 2000) -> list[Completion]:
        """Valid runs of the newest `jobs` jobs that were done after `after`, and of those in hand.

        By session in the order in which these were opened, then in the order in which they were made.
        """

    def open_work(self, campaign_id: int) -> OpenWork:
        """What is to be done, and who may do it now. Raises NotFoundError."""

    def keep(self, campaign_id: int, forecast: Forecast, rates: Sequence[FoundRate]) -> list[str]:
        """Keep what was found; a change that began after the last one was told is an event, and is returned.

        Told twice, by two controllers or after a restart, it is one event.
        """

    def of_campaign(self, campaign_id: int) -> list[NodeRate]:
        """By node."""

    def of_nodes(self) -> list[NodeRate]:
        """By node: the latest of each."""

    def forecast(self, campaign_id: int) -> Forecast | None:
        """The last one; None when nobody has told any for five minutes."""

    def forecasts(self) -> dict[int, Forecast]:
        """The same, of every campaign that is not over."""


class Lockstep(Protocol):
    """Rounds that were begun together, and who held them up."""

    def finished(self, campaign_id: int, *, jobs: int) -> list[Finish]:
        """Valid runs of the newest `jobs` jobs in lockstep that are done and were given an instant, by that."""

    def keep(self, campaign_id: int, found: CriticalNode, message: str) -> bool:
        """Keep that a node is critical again and again, or is so no more; an event when that is news, and True then.

        Told twice, by two controllers or after a restart, it is one event.
        """

    def critical(self, campaign_id: int) -> list[CriticalNode]:
        """Nodes that were told, by name; also those that are critical no more."""


class JobLogs(Protocol):
    """Logs of jobs that ran elsewhere. Adding the same again changes nothing."""

    def add_scheduled_jobs(self, jobs: Sequence[ScheduledJob]) -> int:
        """How many were new; what is told of a job that was known replaces it."""

    def add_program_logs(self, logs: Sequence[ProgramLog]) -> int:
        """How many were new, by their digest."""

    def add_samples(self, file_system: FileSystem, samples: Sequence[FileSystemSample]) -> int:
        """How many were new. Raises ConflictError when the file system is known with other OSTs or OSSs."""

    def set_mounts(self, file_systems: Mapping[str, str]) -> None:
        """Mount point, as programs see it -> file system, as LMT calls it."""

    def mounts(self) -> dict[str, str]:
        """The same."""

    def scheduled_jobs(self) -> list[ScheduledJob]:
        """By job id."""

    def program_logs(self) -> list[ProgramLog]:
        """In the order of their start, then by digest."""

    def file_systems(self) -> list[FileSystem]:
        """By name."""

    def samples(self, file_system: str, *, from_s: float, to_s: float) -> list[FileSystemSample]:
        """Those of [from_s, to_s], in the order of time."""

    def counts(self) -> LogCounts:
        """How many there are."""


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
        """Hold no connection until the next call: something is measured now, or there is nothing to do."""

    def close(self) -> None:
        """Give connections back."""
