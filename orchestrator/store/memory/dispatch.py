"""Which job goes to which node next."""

from __future__ import annotations

from orchestrator.contracts.jobs import State
from orchestrator.store.memory import eligibility, transitions
from orchestrator.store.memory.nodes import working
from orchestrator.store.memory.tables import JobRow, NodeRow, Tables
from orchestrator.store.ports import Offer


def dispatch(tables: Tables, outstanding: int) -> list[Offer]:
    """One job to each node in turn, until no node may have one more."""
    waiting = [job for job in tables.jobs_in({State.QUEUED}) if job.campaign.takes_work]
    offers: list[Offer] = []
    hungry = working(tables)
    while hungry:
        hungry = [node for node in hungry if _in_hand(node) < outstanding]
        hungry = [node for node in hungry if _serve(tables, node, waiting, offers)]
    return offers


def unheard(tables: Tables, older_than_s: float) -> list[Offer]:
    """Old offers on nodes that do nothing; from now on they count as sent again."""
    now = tables.now()
    old = [
        job
        for job in tables.jobs_in({State.OFFERED})
        if job.node is not None and tables.nodes[job.node].leased is None and now - job.offered_at >= older_than_s
    ]
    for job in old:
        job.offered_at = now
    return [Offer(job_id=job.id, node=job.node) for job in old if job.node is not None]


def _in_hand(node: NodeRow) -> int:
    return len(node.offered) + (node.leased is not None)


def _serve(tables: Tables, node: NodeRow, waiting: list[JobRow], offers: list[Offer]) -> bool:
    for job in waiting:
        nodes = eligibility.chosen(tables, job)
        if node in nodes and eligibility.in_balance(job, node, nodes):
            waiting.remove(job)
            transitions.offer(tables, job, node)
            offers.append(Offer(job_id=job.id, node=node.name))
            return True
    return False
