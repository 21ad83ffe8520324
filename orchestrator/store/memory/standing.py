"""Where a job stands, and what decides when it runs, in memory."""

from __future__ import annotations

from orchestrator.contracts.jobs import Job, State
from orchestrator.store import standing
from orchestrator.store.memory import eligibility
from orchestrator.store.memory.nodes import in_hand, online, working
from orchestrator.store.memory.tables import CampaignRow, JobRow, NodeRow, Tables
from orchestrator.store.rules import engine_for
from orchestrator.store.standing import Failed, NodeStanding, Standing


def shown(row: JobRow) -> Job:
    """A job as the ports show it."""
    planned = row.planned
    failures = _failures(row)
    return Job(
        id=row.id,
        campaign_id=row.campaign.id,
        setting_id=row.setting.id,
        ordinal=planned.setting,
        block=planned.block,
        position=planned.position,
        first_replicate=planned.first_replicate,
        replicates=planned.replicates,
        state=row.state,
        node=row.node,
        own=row.own,
        attempts=len(row.attempts),
        reason=row.reason or (failures[-1].reason if failures else None),
    )


def of(tables: Tables, row: JobRow) -> Standing:
    """What decides about one job."""
    submission = row.campaign.submission
    engine, _ = engine_for(
        row.setting.setting.control, submission.engine, submission.engine_options, submission.controls
    )
    chosen = eligibility.chosen(tables, row) if working(tables) else []
    return Standing(
        job=shown(row),
        paused=row.campaign.paused,
        engine=engine,
        nodes=tuple(_node(tables, node, engine) for _, node in sorted(tables.nodes.items())),
        chosen=frozenset(node.name for node in chosen),
        failures=_failures(row),
        earlier_campaign=_earlier(tables, row.campaign),
        ahead=_ahead(row),
        offered_s=tables.now() - row.offered_at,
        lease_left_s=row.lease_until - tables.now(),
        unwatched_s=tables.now() - tables.reconciled_at,
    )


def _node(tables: Tables, node: NodeRow, engine: str) -> NodeStanding:
    return NodeStanding(
        name=node.name,
        state=node.state,
        reason=node.reason,
        online=online(tables, node),
        silent_s=None if node.session is None else tables.now() - node.session.seen_at,
        has_engine=standing.has_engine(engine, node.hello.engines),
        holds=None if node.leased is None else node.leased.id,
        in_hand=in_hand(node),
    )


def _failures(row: JobRow) -> tuple[Failed, ...]:
    return tuple(
        Failed(node=attempt.node, reason=attempt.failure.reason)
        for attempt in row.attempts
        if attempt.failure is not None
    )


def _earlier(tables: Tables, campaign: CampaignRow) -> int | None:
    older = [row for row in tables.campaigns.values() if row.id < campaign.id and row.takes_work]
    return min((row.id for row in older if any(job.state is State.QUEUED for job in row.jobs)), default=None)


def _ahead(row: JobRow) -> int:
    before = (job for job in row.campaign.jobs if job.planned.position < row.planned.position)
    return sum(job.state is State.QUEUED and job.own == row.own for job in before)
