"""The controller's half, in memory."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from orchestrator.store.memory import dispatch, reconcile
from orchestrator.store.memory.analyses import due, wants_judgement
from orchestrator.store.memory.rounds import is_round_over
from orchestrator.store.memory.tables import Tables, transaction
from orchestrator.store.ports import Offer


class Control:
    """See `ports.Control`."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self._leading = threading.Lock()
        self._leader: int | None = None
        self._seen_changes = 0

    @transaction
    def dispatch(self, *, outstanding: int = 2) -> list[Offer]:
        if self._leader not in (None, threading.get_ident()):
            return []
        return dispatch.dispatch(self.tables, outstanding)

    @transaction
    def unengaged(self, offers: Sequence[Offer]) -> tuple[list[Offer], list[Offer]]:
        return dispatch.unengaged(self.tables, offers), []  # nobody is in the middle of anything here

    @transaction
    def unheard(self, *, older_than_s: float = 2.0) -> list[Offer]:
        return dispatch.unheard(self.tables, older_than_s)

    @transaction
    def reconcile(self) -> None:
        reconcile.reconcile(self.tables)

    @transaction
    def analysis_due(self) -> bool:
        campaigns = self.tables.campaigns.values()
        return any(True for _ in due(self.tables)) or any(wants_judgement(c) or is_round_over(c) for c in campaigns)

    def wait(self, timeout_s: float) -> bool:
        with self.tables.changed:
            changed = self.tables.changed.wait_for(lambda: self.tables.changes > self._seen_changes, timeout_s)
            self._seen_changes = self.tables.changes
        return changed

    @contextmanager
    def leader(self) -> Iterator[bool]:
        leads = self._leading.acquire(blocking=False)
        if leads:
            self._leader = threading.get_ident()
        try:
            yield leads
        finally:
            if leads:
                self._leader = None
                self._leading.release()
