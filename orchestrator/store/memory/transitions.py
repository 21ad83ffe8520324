"""The only place where a job changes its state; `contracts.jobs.TRANSITIONS` is the law."""

from __future__ import annotations

from uuid import UUID, uuid4

from orchestrator.contracts.errors import ModescopeError
from orchestrator.contracts.jobs import TRANSITIONS, State
from orchestrator.store.memory.tables import Attempt, JobRow, NodeRow, SessionRow, Tables


def offer(tables: Tables, job: JobRow, node: NodeRow) -> None:
    """Choose `node` for the job."""
    _move(tables, job, State.OFFERED)
    job.node = node.name
    if job.campaign.submission.placement in ("balanced", "by_rate"):
        job.own = node.name
    job.offered_at = tables.now()
    node.offered.append(job)


def lease(tables: Tables, job: JobRow, session: SessionRow, lease_s: float) -> UUID:
    """Give the job to `session`; the token that proves it."""
    _move(tables, job, State.LEASED)
    token = uuid4()
    job.node = session.node.name
    job.session = session.id
    job.token = token
    job.lease_until = tables.now() + lease_s
    job.ready_at = job.start_at = None
    job.attempts.append(Attempt(node=session.node.name))
    session.node.leased = job
    return token


def queue(tables: Tables, job: JobRow) -> None:
    """Let any node have the job again."""
    _move(tables, job, State.QUEUED)
    job.node = None


def complete(tables: Tables, job: JobRow, node: str) -> None:
    """The job is done, and `node` did it."""
    _move(tables, job, State.DONE)
    job.node = node
    job.reason = None
    job.done_at = tables.now()


def set_aside(tables: Tables, job: JobRow, reason: str) -> None:
    """Give the job up."""
    _move(tables, job, State.SET_ASIDE)
    job.node = None
    job.reason = reason


def cancel(tables: Tables, job: JobRow) -> None:
    """Nobody is to carry the job out any more."""
    _move(tables, job, State.CANCELLED)
    job.node = None


def _move(tables: Tables, job: JobRow, state: State) -> None:
    if state not in TRANSITIONS[job.state]:
        raise ModescopeError(f"job {job.id}: {job.state} may not become {state}")
    node = tables.nodes[job.node] if job.node is not None else None
    if node is not None and job.state is State.OFFERED:
        node.offered.remove(job)
    if node is not None and job.state is State.LEASED:
        node.leased = None
    job.state = state
    tables.notify()
