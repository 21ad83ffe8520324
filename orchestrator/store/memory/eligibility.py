"""Which nodes may have a job: by pin and engine, by what failed where."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.contracts.jobs import FailureKind
from orchestrator.store.memory.nodes import working
from orchestrator.store.memory.tables import Attempt, JobRow, NodeRow, Tables
from orchestrator.store.rules import engine_for


def able(job: JobRow, nodes: Sequence[NodeRow]) -> list[NodeRow]:
    """Those of `nodes` that the job is not kept from by pin or engine."""
    submission = job.campaign.submission
    engine, _ = engine_for(
        job.setting.setting.control, submission.engine, submission.engine_options, submission.controls
    )
    pinned_to = job.own if submission.placement in ("pinned", "lockstep") else None
    return [
        node
        for node in nodes
        if pinned_to in (None, node.name) and (engine == "replay" or engine in node.hello.engines)
    ]


def refused(job: JobRow) -> set[str]:
    """Nodes that cannot do what the study asks: each has failed the job so, and is never asked again."""
    return {attempt.node for attempt in job.attempts if _kind(attempt) is FailureKind.STUDY}


def fruitless(job: JobRow) -> list[Attempt]:
    """Attempts that count against the job: they failed, by nobody else's fault, and brought no new valid run."""
    counting = (FailureKind.ENGINE, FailureKind.LOST)
    return [attempt for attempt in job.attempts if _kind(attempt) in counting and attempt.valid_runs == 0]


def chosen(tables: Tables, job: JobRow) -> list[NodeRow]:
    """Nodes at work that are to have the job: where it has not failed yet, or else where it may be tried again."""
    willing = [node for node in able(job, working(tables)) if node.name not in refused(job)]
    failed = {attempt.node for attempt in fruitless(job)}
    failed |= {attempt.node for attempt in job.attempts if _kind(attempt) is FailureKind.NODE}
    fresh = [node for node in willing if node.name not in failed]
    return fresh or willing


def _kind(attempt: Attempt) -> FailureKind | None:
    return None if attempt.failure is None else attempt.failure.kind
