"""Who has which share of a campaign: jobs dealt to nodes, and what becomes of a lost node's share."""

from __future__ import annotations

import hashlib
from collections import Counter

from orchestrator.contracts.campaigns import EventKind, State
from orchestrator.contracts.jobs import State as JobState
from orchestrator.contracts.nodes import NodeState
from orchestrator.store.memory import eligibility
from orchestrator.store.memory.nodes import online, working
from orchestrator.store.memory.tables import CampaignRow, JobRow, NodeRow, SettingRow, Tables
from orchestrator.store.rules import LOST_AFTER_S

DEALT = frozenset({"balanced", "by_rate"})
"""Placements that deal jobs: evenly, or in proportion to what nodes do in a time."""
HELD = frozenset({JobState.OFFERED, JobState.LEASED, JobState.DONE})


def take_in(tables: Tables, campaign: CampaignRow) -> None:
    """A node that is ready and online has a share from then on.

    It keeps it while it is away, until it is lost (`give_away`), and gives it back when it is taken out of work.
    """
    campaign.members = {name for name in campaign.members if _may_keep(tables.nodes[name], campaign)}
    come = {node.name for node in working(tables) if _has_engine(node, campaign)} - campaign.members
    campaign.members |= come
    campaign.lost -= come
    for job in _queued(campaign):
        if come or job.own not in campaign.members:
            job.own = None  # who has come takes a share of what was dealt to others


def next_job(tables: Tables, campaign: CampaignRow, node: NodeRow) -> JobRow | None:
    """What is the node's own; else jobs are dealt in their order, until one falls to it."""
    own = next((job for job in _queued(campaign) if job.own == node.name), None)
    if own is not None:
        return own
    for job in _queued(campaign):
        fewest = _fewest(tables, job) if job.own is None and node.name in campaign.members else []
        if fewest:
            job.own = node.name if node.name in fewest else fewest[job.planned.position % len(fewest)]
        if job.own == node.name:
            return job
    return None


def note_absences(tables: Tables, gap_s: float) -> None:
    """Since when is a node away? The reconciler's own absence (`gap_s`) does not count."""
    for node in tables.nodes.values():
        if online(tables, node):
            node.offline_since = None
        elif node.offline_since is None:
            node.offline_since = tables.now()
        else:
            node.offline_since += gap_s


def give_away(tables: Tables) -> None:
    """A node that is offline for fifteen minutes is lost: the others get its share, unless the study says to wait."""
    for campaign in tables.campaigns.values():
        old = tables.now() - campaign.created_at > LOST_AFTER_S
        if not old or campaign.state is not State.RUNNING or campaign.submission.on_lost_node == "wait":
            continue
        for name in sorted(campaign.members):
            if _is_lost(tables, tables.nodes.get(name)) and _give_share(tables, campaign, name):
                campaign.members.discard(name)
                campaign.lost.add(name)
                lockstep = campaign.submission.placement == "lockstep"
                follows = "the rounds go on without it" if lockstep else "the others do its share"
                message = f"node {name} is offline for 15 min: {follows}"
                tables.tell(EventKind.NODE_LOST, message, campaign_id=campaign.id, node=name)


def waits_for(tables: Tables, campaign: CampaignRow) -> tuple[str, ...]:
    """Nodes that are offline and have jobs of their own to do."""
    owners = {job.own for job in _queued(campaign) if job.own in campaign.members}
    return tuple(sorted(name for name in owners if name is not None and not _is_online(tables, name)))


def deal_again(setting: SettingRow) -> None:
    """Nothing of a setting that is dealt, and still waits, has an owner any more."""
    for job in setting.jobs:
        if job.state is JobState.QUEUED and job.campaign.submission.placement in DEALT:
            job.own = None


def deal_all_again(campaign: CampaignRow) -> None:
    """The same of a whole campaign."""
    for setting in campaign.settings:
        deal_again(setting)


def _give_share(tables: Tables, campaign: CampaignRow, name: str) -> bool:
    """False when there is nobody to have it, or nothing to do."""
    own = [job for job in _queued(campaign) if job.own == name]
    if campaign.submission.placement in DEALT:
        for job in own:
            job.own = None
        return campaign.members != {name}
    if campaign.submission.placement == "lockstep":
        return bool(own)  # they stay its own, for when it is back
    members = campaign.members | campaign.lost
    others = [node.name for node in working(tables) if node.name in members and _has_engine(node, campaign)]
    settings = sorted({job.setting.id for job in own})
    for job in own if others else ():
        job.own = others[settings.index(job.setting.id) % len(others)]
    return bool(own and others)


def _fewest(tables: Tables, job: JobRow) -> list[str]:
    """Those of the nodes that may have the job which have the fewest of its setting, or whose turn it is by rate."""
    members = job.campaign.members
    if job.attempts and any(attempt.failure is not None for attempt in job.attempts):
        members = members & {node.name for node in eligibility.chosen(tables, job)}
    owners = (other.node if other.state in HELD else other.own for other in job.setting.jobs)
    jobs = Counter(owner for owner in owners if owner is not None)
    if job.campaign.submission.placement == "by_rate":
        rates = _known_rates(tables, job.campaign)
        return sorted(members, key=lambda name: (jobs[name] + _drawn(job, name)) / rates.get(name, 1.0))[:1]
    least = min((jobs[name] for name in members), default=0)
    return sorted(name for name in members if jobs[name] == least)


def _known_rates(tables: Tables, campaign: CampaignRow) -> dict[str, float]:
    """What nodes do in a time, as shares of what the fastest does; of whom nothing is known is the fastest."""
    kept = [rate for (of, _), rate in tables.node_rates.items() if of == campaign.id and rate.runs_per_s > 0]
    fastest = max((rate.runs_per_s for rate in kept), default=1.0)
    return {rate.node: rate.runs_per_s / fastest for rate in kept}


def _drawn(job: JobRow, name: str) -> float:
    """From [0, 1), for a setting and a node."""
    return int(hashlib.sha256(f"{job.setting.id} {name}".encode()).hexdigest()[:8], 16) / 2**32


def _queued(campaign: CampaignRow) -> list[JobRow]:
    return [job for job in campaign.jobs if job.state is JobState.QUEUED]


def _may_keep(node: NodeRow, campaign: CampaignRow) -> bool:
    return node.state is NodeState.READY and _has_engine(node, campaign)


def _has_engine(node: NodeRow, campaign: CampaignRow) -> bool:
    engine = campaign.submission.engine
    return engine == "replay" or engine in node.hello.engines


def _is_lost(tables: Tables, node: NodeRow | None) -> bool:
    """A node that was never heard of is not lost: it has not come yet."""
    if node is None or node.offline_since is None or node.state is NodeState.QUARANTINED:
        return False
    return tables.now() - node.offline_since > LOST_AFTER_S


def _is_online(tables: Tables, name: str) -> bool:
    return name in tables.nodes and online(tables, tables.nodes[name])
