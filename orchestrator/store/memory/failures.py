"""What a failed attempt leads to: poison jobs are set aside, sick nodes quarantined (DESIGN 4)."""

from __future__ import annotations

from orchestrator.contracts.campaigns import EventKind
from orchestrator.contracts.jobs import OPEN, Failure, FailureKind
from orchestrator.contracts.nodes import NodeState
from orchestrator.store.memory import eligibility, shares, transitions
from orchestrator.store.memory.nodes import withdraw_offers, working
from orchestrator.store.memory.tables import JobRow, NodeRow, Tables
from orchestrator.store.rules import FRUITLESS_TO_SET_ASIDE, STRIKES_TO_QUARANTINE

LEASE_RAN_OUT = Failure(kind=FailureKind.LOST, reason="the lease ran out: its agent was not heard of again")
AGENT_RESTARTED = Failure(kind=FailureKind.LOST, reason="the agent was started anew in the middle of the job")


def fail(tables: Tables, job: JobRow, failure: Failure) -> None:
    """End the current attempt of a leased job as failed."""
    attempt = job.attempts[-1]
    attempt.failure = failure
    done = end_lease(tables, job)
    shares.deal_again(job.setting)  # another node is to have it
    if failure.kind is FailureKind.NODE:
        _strike(tables, tables.nodes[attempt.node], job, failure)
    if not done and (_impossible(tables, job) or _poisonous(tables, job)):
        give_up(tables, job, failure.reason)


def end_lease(tables: Tables, job: JobRow) -> bool:
    """The holder is gone: the job is done if nothing is missing (True), else anybody may have it."""
    if job.missing:
        transitions.queue(tables, job)
        return False
    transitions.complete(tables, job, job.attempts[-1].node)
    return True


def give_up(tables: Tables, job: JobRow, reason: str) -> None:
    """Set a job aside and say so."""
    transitions.set_aside(tables, job, reason)
    tables.tell(EventKind.JOB_SET_ASIDE, f"job {job.id} set aside: {reason}", campaign_id=job.campaign.id)


def forgive(node: NodeRow) -> None:
    """The node works: earlier failures no longer count."""
    node.strikes, node.last_strike = 0, None


def _impossible(tables: Tables, job: JobRow) -> bool:
    """Two nodes cannot do what the study asks, or one where there is no other."""
    refusing = len(eligibility.refused(job))
    return refusing >= 2 or (refusing == 1 and not _has_choice(tables, job))


def _poisonous(tables: Tables, job: JobRow) -> bool:
    """Tried often enough in vain, on two nodes where there are two."""
    attempts = eligibility.fruitless(job)
    nodes = {attempt.node for attempt in attempts}
    return len(attempts) >= FRUITLESS_TO_SET_ASIDE and (len(nodes) >= 2 or not _has_choice(tables, job))


def _has_choice(tables: Tables, job: JobRow) -> bool:
    return len(eligibility.able(job, working(tables))) >= 2


def _strike(tables: Tables, node: NodeRow, job: JobRow, failure: Failure) -> None:
    """Count a node-class failure: a job that fails again says nothing new, unless there is no other to try."""
    if node.last_strike is job and any(other is not job for other in tables.jobs_in(OPEN)):
        return
    node.strikes += 1
    node.last_strike = job
    if node.strikes >= STRIKES_TO_QUARANTINE:
        node.state = NodeState.QUARANTINED
        node.reason = failure.reason
        withdraw_offers(tables, node)
        message = f"node {node.name} quarantined after {node.strikes} failures in a row: {failure.reason}"
        tables.tell(EventKind.NODE_QUARANTINED, message, campaign_id=job.campaign.id, node=node.name)
