"""Who does what, in memory: claim, renew, finish."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from orchestrator.contracts.errors import NotFoundError
from orchestrator.contracts.jobs import (
    Assignment,
    Ending,
    Failure,
    FailureKind,
    HandedOver,
    Job,
    LineUp,
    Pending,
    Renewal,
    State,
)
from orchestrator.contracts.nodes import NodeState
from orchestrator.contracts.runs import Run
from orchestrator.store import rules
from orchestrator.store.memory import dispatch, failures, lockstep, standing, transitions
from orchestrator.store.memory.nodes import seen
from orchestrator.store.memory.runs import Runs
from orchestrator.store.memory.tables import JobRow, SessionRow, Tables, transaction
from orchestrator.store.standing import sentence


class Jobs:
    """See `ports.Jobs`."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    @transaction
    def claim(self, job_id: int, session: UUID) -> Assignment | None:
        job = self.tables.jobs.get(job_id)
        holder = seen(self.tables, session)
        if job is None or holder is None or not _may_claim(job, holder):
            return None
        token = transitions.lease(self.tables, job, holder, _lease_s(job))
        if job.campaign.started_at is None:
            job.campaign.started_at = self.tables.now()
        return self._assignment(job, token)

    @transaction
    def renew(self, job_id: int, token: UUID) -> Renewal:
        job = self.tables.jobs.get(job_id)
        if job is None or job.token != token:
            return Renewal(granted=False)
        seen(self.tables, job.session)
        if job.state is State.CANCELLED:
            return Renewal(granted=False, stop="cancel")
        if job.state is not State.LEASED:
            return Renewal(granted=False)
        job.lease_until = self.tables.now() + _lease_s(job)
        return Renewal(granted=True, stop="pause" if job.campaign.paused else None)

    @transaction
    def line_up(self, job_id: int, token: UUID) -> LineUp:
        renewal = self.renew(job_id, token)
        if not renewal.granted or renewal.stop is not None:
            return LineUp(granted=renewal.granted, stop=renewal.stop)
        return lockstep.line_up(self.tables, self.tables.jobs[job_id])

    @transaction
    def finish(self, job_id: int, token: UUID, ending: Ending, failure: Failure | None = None) -> bool:
        job = self.tables.jobs.get(job_id)
        if job is None or job.state is not State.LEASED or job.token != token:
            return False
        seen(self.tables, job.session)
        if ending is Ending.FAIL:
            failures.fail(self.tables, job, failure or Failure(kind=FailureKind.ENGINE, reason="no reason given"))
            return True
        done = failures.end_lease(self.tables, job)
        if done and ending is Ending.COMPLETE:
            failures.forgive(self.tables.nodes[job.attempts[-1].node])
        return True

    @transaction
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
        receipt = Runs(self.tables).record(runs)
        self.finish(job_id, token, ending, failure)
        holder = self.tables.sessions.get(next_for) if next_for is not None else None
        following = dispatch.first_offered(holder.node) if holder is not None else None
        if following is None or next_for is None:
            return HandedOver(receipt=receipt)
        return HandedOver(receipt=receipt, next=self.claim(following.id, next_for))

    @transaction
    def of_campaign(
        self, campaign_id: int, *, states: Sequence[State] = tuple(State), after: int = -1, limit: int = 100
    ) -> list[Job]:
        campaign = self.tables.campaigns.get(campaign_id)
        jobs = campaign.jobs if campaign is not None else []
        return [standing.shown(job) for job in jobs if job.state in states and job.planned.position > after][:limit]

    @transaction
    def why(self, campaign_id: int, job_id: int) -> str:
        job = self.tables.jobs.get(job_id)
        if job is None or job.campaign.id != campaign_id:
            raise NotFoundError(rules.no_job(campaign_id, job_id))
        return sentence(standing.of(self.tables, job))

    @transaction
    def held_by(self, node: str) -> list[int]:
        found = self.tables.nodes.get(node)
        return [] if found is None or found.leased is None else [found.leased.id]

    @transaction
    def release_node(self, node: str, session: UUID) -> list[int]:
        found = self.tables.nodes.get(node)
        if found is None or found.leased is None or found.leased.session == session:
            return []
        job = found.leased
        failures.fail(self.tables, job, failures.AGENT_RESTARTED)
        return [job.id]

    def _assignment(self, job: JobRow, token: UUID) -> Assignment:
        submission, setting = job.campaign.submission, job.setting.setting
        engine, engine_options = _engine(job)
        return Assignment(
            job_id=job.id,
            campaign_id=job.campaign.id,
            setting_id=job.setting.id,
            token=token,
            attempt=len(job.attempts),
            factors=submission.design.factors,
            levels=setting.levels,
            modes=setting.modes,
            engine=engine,
            engine_options=dict(engine_options),
            node_options=dict(submission.node_options) if setting.control is None else {},  # nothing is measured
            pending=tuple(
                Pending(replicate=replicate, attempt=len(job.setting.runs.get(replicate, ())))
                for replicate in job.missing
            ),
            max_tries=submission.max_tries,
            lease_s=_lease_s(job),
            database_time=self.tables.now(),
            ledger=self.tables.ledger,
            round=job.planned.round,
        )


def _may_claim(job: JobRow, holder: SessionRow) -> bool:
    return (
        job.state is State.OFFERED
        and job.node == holder.node.name
        and job.campaign.takes_work
        and holder.node.state is NodeState.READY
        and holder.node.leased is None
    )


def _engine(job: JobRow) -> tuple[str, dict[str, object]]:
    submission = job.campaign.submission
    engine, options = rules.engine_for(
        job.setting.setting.control, submission.engine, submission.engine_options, submission.controls
    )
    return engine, dict(options)


def _lease_s(job: JobRow) -> float:
    return rules.lease_s(*_engine(job))
