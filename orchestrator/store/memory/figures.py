"""The whole service in numbers, in memory."""

from __future__ import annotations

from collections import Counter

from orchestrator.contracts.figures import OTHER, REASONS_TOLD, Figures, NodeFigures
from orchestrator.contracts.runs import Validity
from orchestrator.store.memory.failures import LEASE_RAN_OUT
from orchestrator.store.memory.nodes import online
from orchestrator.store.memory.tables import AnalysisRow, Tables


def figures(tables: Tables) -> Figures:
    """Everything that is counted."""
    failures = [
        attempt.failure for job in tables.jobs.values() for attempt in job.attempts if attempt.failure is not None
    ]
    analyses = tables.analyses.values()
    fit_s = [row.result.fit_s for row in analyses if row.result is not None and row.result.fit_s is not None]
    nodes = {row.node for row in tables.runs.values()}
    runs = Counter((row.node, str(row.validity)) for row in tables.runs.values())
    return Figures(
        campaigns=Counter(str(row.state) for row in tables.campaigns.values()),
        jobs=Counter(str(job.state) for job in tables.jobs.values()),
        runs={(node, str(validity)): runs[node, str(validity)] for node in nodes for validity in Validity},
        invalid=_invalid(tables),
        failures=Counter(str(failure.kind) for failure in failures),
        lease_expiries=failures.count(LEASE_RAN_OUT),
        analyses=Counter(_state(tables, row) for row in analyses),
        fits=len(fit_s),
        fit_s=sum(fit_s),
        nodes=tuple(
            NodeFigures(name=name, state=node.state, online=online(tables, node), spool_runs=node.hello.spool_runs)
            for name, node in sorted(tables.nodes.items())
        ),
        unwatched_s=tables.now() - tables.reconciled_at,
    )


def _invalid(tables: Tables) -> Counter[tuple[str, str]]:
    invalid = [row for row in tables.runs.values() if row.validity is Validity.INVALID]
    reasons = Counter(row.run.reason or "unknown" for row in invalid)
    told = {reason for reason, _ in reasons.most_common(REASONS_TOLD)}
    named = ((row.node, row.run.reason or "unknown") for row in invalid)
    return Counter((node, reason if reason in told else OTHER) for node, reason in named)


def _state(tables: Tables, row: AnalysisRow) -> str:
    if row.result is not None:
        return "done"
    return "leased" if row.lease_until > tables.now() else "due"
