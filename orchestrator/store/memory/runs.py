"""What was measured, in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from orchestrator.contracts.errors import ConflictError
from orchestrator.contracts.jobs import State
from orchestrator.contracts.runs import Receipt, Run, Validity
from orchestrator.store.memory import samples, transitions
from orchestrator.store.memory.tables import RunRow, SettingRow, Tables, transaction

COMPLETED_BY_RUNS = frozenset({State.QUEUED, State.OFFERED, State.SET_ASIDE})
"""A leased job is finished by its holder."""


@dataclass(kw_only=True, slots=True)
class _Sorted:
    """What became of the runs of one batch."""

    stored: dict[Validity, list[UUID]] = field(default_factory=lambda: {validity: [] for validity in Validity})
    known: list[UUID] = field(default_factory=list)
    conflicting: list[UUID] = field(default_factory=list)


class Runs:
    """See `ports.Runs`."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    @transaction
    def record(self, runs: Sequence[Run]) -> Receipt:
        for run in runs:
            _check(self.tables, run)
        batch = _Sorted()
        for run in runs:
            self._take(run, self.tables.sessions[run.session].node.name, batch)
        return Receipt(
            valid=tuple(batch.stored[Validity.VALID]),
            invalid=tuple(batch.stored[Validity.INVALID]),
            superseded=tuple(batch.stored[Validity.SUPERSEDED]),
            known=tuple(batch.known),
            conflicting=tuple(batch.conflicting),
        )

    @transaction
    def told(self, setting_id: int) -> dict[UUID, Mapping[str, Any]]:
        rows = (row.run for runs in self.tables.settings[setting_id].runs.values() for row in runs)
        return {
            run.id: {"details": run.details, "observed": run.observed} for run in rows if run.details or run.observed
        }

    def _take(self, run: Run, node: str, batch: _Sorted) -> None:
        earlier = self.tables.runs.get(run.id)
        if earlier is not None:
            (batch.known if _same(earlier.run, run) else batch.conflicting).append(run.id)
            return
        setting, job = self.tables.settings[run.setting_id], self.tables.jobs[run.job_id]
        validity = _validity(run, setting)
        row = RunRow(run=run, node=node, job=job, validity=validity, recorded_at=self.tables.now())
        self._store(row, setting)
        batch.stored[validity].append(run.id)
        if validity is Validity.VALID:
            self._count(row, setting)

    def _store(self, row: RunRow, setting: SettingRow) -> None:
        self.tables.runs[row.run.id] = row
        setting.runs.setdefault(row.run.replicate, []).append(row)
        setting.campaign.runs.append(row)
        setting.campaign.shares[row.node, row.validity] += 1

    def _count(self, row: RunRow, setting: SettingRow) -> None:
        """One more replicate has its run: is its job done, is its setting's sample complete?"""
        setting.valid[row.run.replicate] = row
        if 1 <= row.run.attempt <= len(row.job.attempts):
            row.job.attempts[row.run.attempt - 1].valid_runs += 1
        if row.job.state in COMPLETED_BY_RUNS and not row.job.missing:
            transitions.complete(self.tables, row.job, row.node)
        if samples.is_complete(setting):
            samples.open_analyses(self.tables, setting)
        self.tables.notify()


def _check(tables: Tables, run: Run) -> None:
    """Refuse what does not fit into the ledger, before anything of the batch is stored."""
    if run.session not in tables.sessions:
        raise ConflictError(f"run {run.id}: session {run.session} is not known here; was it made for another ledger?")
    setting = tables.settings.get(run.setting_id)
    job = tables.jobs.get(run.job_id)
    if setting is None or setting.campaign.id != run.campaign_id:
        raise ConflictError(f"run {run.id}: campaign {run.campaign_id} has no setting {run.setting_id}")
    if job is None or job.setting is not setting or run.replicate not in job.replicates:
        raise ConflictError(f"run {run.id}: job {run.job_id} does not hold replicate {run.replicate} of its setting")
    allowed = (len(setting.setting.modes),) if run.valid else (0, len(setting.setting.modes))
    if len(run.values) not in allowed:
        modes = len(setting.setting.modes)
        raise ConflictError(f"run {run.id}: {len(run.values)} values, but its setting has {modes} modes")


def _validity(run: Run, setting: SettingRow) -> Validity:
    if not run.valid:
        return Validity.INVALID
    return Validity.SUPERSEDED if run.replicate in setting.valid else Validity.VALID


def _same(earlier: Run, run: Run) -> bool:
    """Do both say that the same was measured?"""
    return (earlier.setting_id, earlier.replicate, earlier.valid, earlier.values) == (
        run.setting_id,
        run.replicate,
        run.valid,
        run.values,
    )
