"""Flags that a re-run measured again, in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any
from uuid import uuid4

from orchestrator.contracts.analyses import FlagBatch, LeasedFlag, RepeatedFlag
from orchestrator.store.memory.analyses import fitted
from orchestrator.store.memory.tables import AnalysisRow, FlagRow, Tables, transaction
from orchestrator.store.rules import ANALYSIS_LEASE_S


class Flags:
    """See `ports.Flags`."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    @transaction
    def plan(self, campaign_id: int, flags: Sequence[RepeatedFlag]) -> None:
        known = {(row.again.id, row.first.id, row.dip_q): row for row in self._of(campaign_id)}
        for row in known.values():
            del self.tables.flags[row.again.id]
        for flag in flags:
            first, again = (self._current(setting, flag.mode) for setting in (flag.first_setting_id, flag.setting_id))
            if first is not None and again is not None:
                new = FlagRow(campaign_id=campaign_id, first=first, again=again, dip_q=flag.dip_q)
                self.tables.flags[again.id] = known.get((again.id, first.id, flag.dip_q), new)

    @transaction
    def lease(self, campaign_id: int, *, limit: int, lease_s: float = ANALYSIS_LEASE_S) -> FlagBatch | None:
        rows = list(islice(self._free(campaign_id), limit))
        token = uuid4()
        for row in rows:
            row.token, row.lease_until = token, self.tables.now() + lease_s
        leased = (LeasedFlag(first=fitted(row.first), again=fitted(row.again), dip_q=row.dip_q) for row in rows)
        return FlagBatch(token=token, flags=tuple(leased)) if rows else None

    @transaction
    def renew(self, batch: FlagBatch, *, lease_s: float = ANALYSIS_LEASE_S) -> int:
        held = list(self._held(batch))
        for row in held:
            row.lease_until = self.tables.now() + lease_s
        return len(held)

    @transaction
    def store(self, batch: FlagBatch, found: Mapping[int, Mapping[str, Any] | None]) -> int:
        kept = [row for row in self._held(batch) if row.again.id in found]
        for row in kept:
            row.done, row.confirmation = True, found[row.again.id]
        return len(kept)

    @transaction
    def found(self, campaign_id: int) -> Mapping[int, Mapping[str, Any] | None] | None:
        rows = list(self._of(campaign_id))
        return {row.again.id: row.confirmation for row in rows} if all(row.done for row in rows) else None

    def _of(self, campaign_id: int) -> Iterator[FlagRow]:
        return (row for row in self.tables.flags.values() if row.campaign_id == campaign_id)

    def _current(self, setting_id: int, mode: str) -> AnalysisRow | None:
        setting = self.tables.settings.get(setting_id)
        rows = [] if setting is None else setting.analyses
        return next((row for row in rows if row.mode == mode), None)

    def _free(self, campaign_id: int) -> Iterator[FlagRow]:
        """In order of their analyses."""
        for row in sorted(self._of(campaign_id), key=lambda one: one.again.id):
            fits_stand = all(
                one.id in self.tables.analyses and one.result is not None for one in (row.first, row.again)
            )
            if not row.done and row.lease_until <= self.tables.now() and fits_stand:
                yield row

    def _held(self, batch: FlagBatch) -> Iterator[FlagRow]:
        rows = (self.tables.flags.get(one.again.id) for one in batch.flags)
        return (row for row in rows if row is not None and row.token == batch.token and not row.done)
