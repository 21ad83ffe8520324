"""Rounds: jobs of one number, one on each node, that begin together (placement `lockstep`, docs/decisions/0013)."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.contracts.campaigns import State
from orchestrator.contracts.jobs import OPEN, LineUp
from orchestrator.contracts.jobs import State as JobState
from orchestrator.contracts.nodes import NodeState
from orchestrator.store import rules
from orchestrator.store.memory import eligibility, transitions
from orchestrator.store.memory.nodes import in_hand, online
from orchestrator.store.memory.tables import CampaignRow, JobRow, NodeRow, Tables
from orchestrator.store.standing import has_engine

HELD = frozenset({JobState.OFFERED, JobState.LEASED})


def next_jobs(tables: Tables, campaign: CampaignRow, nodes: Sequence[NodeRow]) -> list[tuple[JobRow, NodeRow]]:
    """All of the next round, when every awaited node of it has nothing else in hand, and at least two are there.

    What is left over of rounds that have begun comes after the last of them.
    """
    _welcome_back(tables, campaign)
    free = {node.name: node for node in nodes if in_hand(node) == 0}
    fresh = _next_round(campaign)
    if not fresh:
        return _left_over(tables, campaign, free)
    awaited = _awaited(tables, campaign)
    waiting = [job for job in fresh if job.state is JobState.QUEUED and job.own in awaited]
    held = sum(job.state in HELD for job in fresh)
    if len(waiting) + held < 2:
        return []
    taken = [(job, free[job.own]) for job in waiting if job.own is not None and job.own in free]
    return taken if len(taken) == len(waiting) else []


def kept_for(tables: Tables, campaign: CampaignRow) -> set[str]:
    """Nodes of which later campaigns have to keep off: they begin the next round as soon as all of them are free."""
    awaited = _awaited(tables, campaign)
    all_here = all(name in tables.nodes and online(tables, tables.nodes[name]) for name in awaited)
    return awaited if len(awaited) >= 2 and all_here and _next_round(campaign) else set()


def line_up(tables: Tables, job: JobRow) -> LineUp:
    """When does the round begin? The holder of `job`, a live lease, has prepared its node."""
    now = tables.now()
    job.ready_at = now if job.ready_at is None else job.ready_at
    members = [other for other in job.campaign.jobs if other.planned.round == job.planned.round]
    leased = [other for other in members if other.state is JobState.LEASED]
    ready = [other for other in leased if other.ready_at is not None]
    on_the_way = len(ready) < len(leased) or any(other.state is JobState.OFFERED for other in members)
    again_s = rules.ask_again_s(len(members))
    first = min((one.ready_at for one in ready if one.start_at is None and one.ready_at is not None), default=now)
    patience_s = rules.round_wait_s(job.campaign.submission.study)
    if job.start_at is None and (not on_the_way or first < now - patience_s):
        for other in members:
            other.round_begun = True
        for other in ready:
            other.start_at = now + rules.ROUND_LEAD_S + 2 * again_s if other.start_at is None else other.start_at
    return LineUp(granted=True, start_at=job.start_at, again_s=again_s, database_time=now)


def give_up(tables: Tables) -> None:
    """When nothing is left but jobs of nodes that are lost or quarantined, nobody will do them."""
    for campaign in tables.campaigns.values():
        if campaign.submission.placement != "lockstep" or campaign.state is not State.RUNNING:
            continue
        still_open = [job for job in campaign.jobs if job.state in OPEN]
        reasons = [_gone(tables, campaign, job) for job in still_open]
        for job, reason in zip(still_open, reasons, strict=True):
            if None not in reasons and reason is not None:
                transitions.set_aside(tables, job, reason)


def _gone(tables: Tables, campaign: CampaignRow, job: JobRow) -> str | None:
    """Why nobody will do what still waits for this node; None: somebody may."""
    node = tables.nodes.get(job.own or "")
    if job.state is not JobState.QUEUED or node is None:
        return None
    if node.state is NodeState.QUARANTINED:
        return f"no node left: {node.name} is quarantined ({node.reason})"
    lost = node.name in campaign.lost and not online(tables, node)
    return f"node {node.name} was lost: the rounds went on without it" if lost else None


def _next_round(campaign: CampaignRow) -> list[JobRow]:
    """Open jobs of the round to begin next. One of which a single job is left cannot begin: that job is left over."""
    fresh = [job for job in campaign.jobs if job.state in OPEN and not job.round_begun]
    while numbers := {job.planned.round for job in fresh if job.state is JobState.QUEUED}:
        first = min(number for number in numbers if number is not None)
        members = [job for job in fresh if job.planned.round == first]
        if len(members) >= 2:
            return members
        for job in members:
            job.round_begun = True
        fresh = [job for job in fresh if not job.round_begun]
    return []


def _left_over(tables: Tables, campaign: CampaignRow, free: dict[str, NodeRow]) -> list[tuple[JobRow, NodeRow]]:
    """The first job of each free node."""
    found: dict[str, tuple[JobRow, NodeRow]] = {}
    for job in campaign.jobs:
        node = free.get(job.own or "")
        if job.state is JobState.QUEUED and node is not None and node in eligibility.chosen(tables, job):
            found.setdefault(node.name, (job, node))
    return list(found.values())


def _welcome_back(tables: Tables, campaign: CampaignRow) -> None:
    back = {name for name in campaign.lost if online(tables, tables.nodes[name])}
    campaign.lost -= back
    campaign.members |= back


def _awaited(tables: Tables, campaign: CampaignRow) -> set[str]:
    """Nodes that rounds wait for: neither taken out of work nor lost. One that was never heard of is on its way."""
    return {name for name in campaign.members if _is_awaited(tables.nodes.get(name), campaign.submission.engine)}


def _is_awaited(node: NodeRow | None, engine: str) -> bool:
    if node is None:
        return True
    return node.state is NodeState.READY and has_engine(engine, node.hello.engines)
