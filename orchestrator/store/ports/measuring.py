"""What is to be measured, who measures it, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol
from uuid import UUID

from orchestrator.contracts.campaigns import (
    Campaign,
    Configuration,
    Event,
    ExportRow,
    Progress,
    Submission,
)
from orchestrator.contracts.designs import Design
from orchestrator.contracts.findings import ConfigurationPage
from orchestrator.contracts.jobs import Assignment, Ending, Failure, HandedOver, Job, LineUp, Renewal, State
from orchestrator.contracts.rounds import Decision, Due, Round
from orchestrator.contracts.runs import Receipt, Run


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
