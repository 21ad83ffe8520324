"""Which job goes to which node next."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.contracts.jobs import State
from orchestrator.store.memory import eligibility, shares, transitions
from orchestrator.store.memory.nodes import working
from orchestrator.store.memory.tables import CampaignRow, JobRow, NodeRow, Tables
from orchestrator.store.ports import Offer


def dispatch(tables: Tables, outstanding: int) -> list[Offer]:
    """One job to each node in turn, until no node may have one more."""
    campaigns = [campaign for campaign in tables.campaigns.values() if campaign.takes_work]
    for campaign in campaigns:
        if campaign.submission.placement == "balanced":
            shares.take_in(tables, campaign)
    offers: list[Offer] = []
    hungry = working(tables)
    while hungry:
        hungry = [node for node in hungry if _in_hand(node) < outstanding]
        hungry = [node for node in hungry if _serve(tables, node, campaigns, offers)]
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


def _in_hand(node: NodeRow) -> int:
    return len(node.offered) + (node.leased is not None)


def _serve(tables: Tables, node: NodeRow, campaigns: list[CampaignRow], offers: list[Offer]) -> bool:
    """Offer the node one job, of the oldest campaign that has one for it."""
    for campaign in campaigns:
        balanced = campaign.submission.placement == "balanced"
        job = shares.next_job(tables, campaign, node) if balanced else _next_job(tables, campaign, node)
        if job is not None:
            transitions.offer(tables, job, node)
            offers.append(Offer(job_id=job.id, node=node.name))
            return True
    return False


def _next_job(tables: Tables, campaign: CampaignRow, node: NodeRow) -> JobRow | None:
    queued = (job for job in campaign.jobs if job.state is State.QUEUED)
    return next((job for job in queued if node in eligibility.chosen(tables, job)), None)
