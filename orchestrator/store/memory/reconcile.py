"""Take back what ended badly, and end what is over."""

from __future__ import annotations

from collections import Counter

from orchestrator.contracts.campaigns import EventKind, State
from orchestrator.contracts.jobs import OPEN
from orchestrator.contracts.jobs import State as JobState
from orchestrator.contracts.nodes import NodeState
from orchestrator.store.memory import eligibility, failures, lockstep, rounds, samples, shares
from orchestrator.store.memory.nodes import online, withdraw_offers, working
from orchestrator.store.memory.tables import CampaignRow, JobRow, Tables
from orchestrator.store.rules import GAP_S


def reconcile(tables: Tables) -> None:
    """One pass; doing it twice is the same as once."""
    gap_s = _grant_the_gap(tables)
    _take_back_leases(tables)
    shares.note_absences(tables, gap_s)
    _take_back_offers(tables)
    shares.give_away(tables)
    lockstep.give_up(tables)
    _give_up_what_nobody_can_do(tables)
    for campaign in tables.campaigns.values():
        _end_if_over(tables, campaign)


def _grant_the_gap(tables: Tables) -> float:
    """After a gap of our own nobody could renew: every lease gets the gap's length (DESIGN 3). Its length, or 0."""
    gap_s = tables.now() - tables.reconciled_at
    tables.reconciled_at = tables.now()
    if gap_s <= GAP_S:
        return 0.0
    for job in tables.jobs_in({JobState.LEASED}):
        job.lease_until += gap_s
    return gap_s


def _take_back_leases(tables: Tables) -> None:
    for job in list(tables.jobs_in({JobState.LEASED})):
        if job.lease_until <= tables.now():
            failures.fail(tables, job, failures.LEASE_RAN_OUT)


def _take_back_offers(tables: Tables) -> None:
    for node in tables.nodes.values():
        if node.state is not NodeState.READY or not online(tables, node):
            withdraw_offers(tables, node)


def _give_up_what_nobody_can_do(tables: Tables) -> None:
    """Jobs that every node at work has refused, and jobs whose every node is quarantined."""
    for job in list(tables.jobs_in({JobState.QUEUED})):
        reason = _refusal(tables, job) or _quarantines(tables, job)
        if reason is not None:
            failures.give_up(tables, job, reason)


def _refusal(tables: Tables, job: JobRow) -> str | None:
    at_work = {node.name for node in eligibility.able(job, working(tables))}
    if not at_work or not at_work <= eligibility.refused(job):
        return None
    return next(attempt.failure.reason for attempt in reversed(job.attempts) if attempt.failure is not None)


def _quarantines(tables: Tables, job: JobRow) -> str | None:
    if job.campaign.submission.placement == "lockstep":
        return None  # see `lockstep.give_up`
    pinned_to = job.own if job.campaign.submission.placement == "pinned" else None
    nodes = [node for node in tables.nodes.values() if pinned_to in (None, node.name)]
    busy = any(other.state is JobState.LEASED for other in job.campaign.jobs)
    if busy or not nodes or any(node.state is not NodeState.QUARANTINED for node in nodes):
        return None
    reasons = sorted({f"{node.name} is quarantined ({node.reason})" for node in nodes})
    return f"no node left: {'; '.join(reasons)}"


def _end_if_over(tables: Tables, campaign: CampaignRow) -> None:
    complete = campaign.valid_runs == campaign.expected_runs
    if campaign.state is State.INCOMPLETE and campaign.missing != _missing(campaign):
        _count_anew(tables, campaign)
    over = not any(job.state in OPEN for job in campaign.jobs)
    if campaign.state is State.RUNNING and over and rounds.has_grown(campaign):
        _end(tables, campaign, State.COMPLETE if complete else State.INCOMPLETE)


def _end(tables: Tables, campaign: CampaignRow, state: State) -> None:
    campaign.state = state
    campaign.ended_at = tables.now()
    campaign.missing = _missing(campaign)
    samples.analyse_what_grew(tables, campaign)
    lacking = "".join(f"; {count} runs missing: {reason}" for reason, count in campaign.missing.items())
    tables.tell(
        EventKind(f"campaign_{state}"), f"campaign {campaign.id} ended {state}{lacking}", campaign_id=campaign.id
    )
    tables.notify()


def _count_anew(tables: Tables, campaign: CampaignRow) -> None:
    """Some, or all, of what was missing came home in a spool after the end."""
    campaign.missing = _missing(campaign)
    if not campaign.missing:
        campaign.state = State.COMPLETE
        tables.tell(EventKind.CAMPAIGN_COMPLETE, f"campaign {campaign.id} ended complete", campaign_id=campaign.id)


def _missing(campaign: CampaignRow) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for job in campaign.jobs:
        if job.state is JobState.SET_ASIDE and job.missing:
            counts[job.reason or "unknown"] += len(job.missing)
    return dict(counts)
