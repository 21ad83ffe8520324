"""Rounds that were begun together, and who held them up, in memory."""

from __future__ import annotations

from orchestrator.contracts.campaigns import EventKind
from orchestrator.contracts.lockstep import CriticalNode, Finish
from orchestrator.store.memory.tables import JobRow, Tables, transaction


class Lockstep:
    """See `ports.Lockstep`."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    @transaction
    def finished(self, campaign_id: int, *, jobs: int) -> list[Finish]:
        done = [job for job in self.tables.campaign(campaign_id).jobs if job.done_at is not None]
        newest = sorted(done, key=lambda job: (job.done_at or 0.0, job.id), reverse=True)[:jobs]
        found = [_finish(job, job.start_at) for job in newest if job.start_at is not None and not job.missing]
        return sorted(found, key=lambda one: (one.start_at, one.node))

    @transaction
    def keep(self, campaign_id: int, found: CriticalNode, message: str) -> bool:
        key = (self.tables.campaign(campaign_id).id, found.node)
        before = self.tables.critical_nodes.get(key)
        self.tables.critical_nodes[key] = found
        new = found.named != (before is not None and before.named)
        if new:
            self.tables.tell(EventKind.NODE_CRITICAL, message, campaign_id=campaign_id, node=found.node)
        return new

    @transaction
    def critical(self, campaign_id: int) -> list[CriticalNode]:
        return [one for (of, _), one in sorted(self.tables.critical_nodes.items()) if of == campaign_id]


def _finish(job: JobRow, start_at: float) -> Finish:
    row = job.setting.valid[job.planned.first_replicate]
    return Finish(
        run=row.run.id,
        round=job.planned.round or 0,
        start_at=start_at,
        setting_id=job.setting.id,
        node=row.node,
        started_at=row.run.started_at,
        elapsed_s=row.run.elapsed_s,
    )
