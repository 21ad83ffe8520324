"""Which job goes to which node next."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.contracts.jobs import State
from orchestrator.store.memory import eligibility, lockstep, shares, transitions
from orchestrator.store.memory.nodes import in_hand, working
from orchestrator.store.memory.tables import CampaignRow, JobRow, NodeRow, Tables
from orchestrator.store.ports import Offer


def dispatch(tables: Tables, outstanding: int) -> list[Offer]:
    """Of one campaign after the other, one job to each node in turn, until no node may have one more."""
    offers: list[Offer] = []
    kept: set[str] = set()
    for campaign in [campaign for campaign in tables.campaigns.values() if campaign.takes_work]:
        hungry = [node for node in working(tables) if node.name not in kept]
        if campaign.submission.placement == "lockstep":
            offers += [_offer(tables, job, node) for job, node in lockstep.next_jobs(tables, campaign, hungry)]
            kept |= lockstep.kept_for(tables, campaign)
            continue
        if campaign.submission.placement in shares.DEALT:
            shares.take_in(tables, campaign)
        while hungry:
            hungry = [node for node in hungry if in_hand(node) < outstanding]
            hungry = [node for node in hungry if _serve(tables, node, campaign, offers)]
    return offers


def unengaged(tables: Tables, offers: Sequence[Offer]) -> list[Offer]:
    """Those that were offered first to a node without a job."""
    return [offer for offer in offers if (job := first_offered(tables.nodes[offer.node])) and job.id == offer.job_id]


def first_offered(node: NodeRow) -> JobRow | None:
    """What a node without a job is to take; None when it has one, or nothing is offered to it."""
    if node.leased is not None or not node.offered:
        return None
    return min(node.offered, key=lambda job: (job.offered_at, job.id))


def unheard(tables: Tables, older_than_s: float) -> list[Offer]:
    """Offers that nodes without a job should have taken; from now on they count as sent again."""
    now = tables.now()
    old = [
        job
        for node in tables.nodes.values()
        for job in node.offered
        if node.leased is None and (now - job.offered_at >= older_than_s or _spoke_since(node, job))
    ]
    for job in old:
        job.offered_at = now
    return [Offer(job_id=job.id, node=job.node) for job in old if job.node is not None]


def _spoke_since(node: NodeRow, job: JobRow) -> bool:
    return node.session is not None and node.session.seen_at > job.offered_at


def _serve(tables: Tables, node: NodeRow, campaign: CampaignRow, offers: list[Offer]) -> bool:
    """Offer the node one job of the campaign; False when there is none for it."""
    dealt = campaign.submission.placement in shares.DEALT
    job = shares.next_job(tables, campaign, node) if dealt else _next_job(tables, campaign, node)
    if job is not None:
        offers.append(_offer(tables, job, node))
    return job is not None


def _offer(tables: Tables, job: JobRow, node: NodeRow) -> Offer:
    transitions.offer(tables, job, node)
    return Offer(job_id=job.id, node=node.name)


def _next_job(tables: Tables, campaign: CampaignRow, node: NodeRow) -> JobRow | None:
    queued = (job for job in campaign.jobs if job.state is State.QUEUED)
    return next((job for job in queued if node in eligibility.chosen(tables, job)), None)
