"""The controller's half: every decision is a conditional statement, so two controllers are harmless (DESIGN 12)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from sqlalchemy import Connection, text

from orchestrator.store.ports import Offer
from orchestrator.store.postgres import decisions
from orchestrator.store.postgres.connection import Database

LONGEST_TURN = "10s"
"""Of one statement, and of the silence between two: a controller that is frozen in its pass loses the lock."""
_LEAD = text("SELECT pg_try_advisory_xact_lock(1836016755)")
"""One number for all controllers of a ledger; `dispatch_alone` asks for it as well."""


class PostgresControl:
    """Dispatch, reconcile, wait. Inside `leader()` all calls share one transaction, which ends with it."""

    def __init__(self, database: Database) -> None:
        self._database = database.limited(LONGEST_TURN)
        self._pass: Connection | None = None
        self._listener: psycopg.Connection | None = None

    @contextmanager
    def leader(self) -> Iterator[bool]:
        """Hold the controllers' lock for one pass; False when another controller has it."""
        with self._database.writing() as connection:
            held = bool(connection.execute(_LEAD).scalar_one())
            self._pass = connection if held else None
            try:
                yield held
            finally:
                self._pass = None

    def dispatch(self, *, outstanding: int = 2) -> list[Offer]:
        """Offer jobs in rounds, one a node, so that a short queue spreads over the nodes.

        By itself one round trip: of a processor that is busy each costs more than what is decided.
        """
        if self._pass is not None:
            return _offers(self._pass.execute(decisions.DISPATCH, {"outstanding": outstanding}))
        with self._database.calling() as connection:
            return _offers(connection.execute(decisions.DISPATCH_ALONE, {"outstanding": outstanding}))

    def unengaged(self, offers: Sequence[Offer]) -> tuple[list[Offer], list[Offer]]:
        """Offers of which idle nodes must be told, and those of nodes that give a job back at this moment."""
        if not offers:
            return [], []
        with self._database.calling() as connection:
            rows = connection.execute(decisions.UNENGAGED, {"jobs": [offer.job_id for offer in offers]}).all()
        return _offers(row for row in rows if row.is_known), _offers(row for row in rows if not row.is_known)

    def unheard(self, *, older_than_s: float = 2.0) -> list[Offer]:
        """Offers that idle nodes have not taken up."""
        with self._deciding() as connection:
            return _offers(connection.execute(decisions.SEND_AGAIN, {"older_than_s": older_than_s}))

    def reconcile(self) -> None:
        """Take back what ended badly; end campaigns that are over."""
        with self._deciding() as connection:
            gap = connection.execute(decisions.GRANT_THE_GAP).scalar_one()
            connection.execute(decisions.EXPIRE_LEASES)
            connection.execute(decisions.NOTE_ABSENCES, {"gap": gap})
            connection.execute(decisions.WITHDRAW_OFFERS)
            connection.execute(decisions.GIVE_AWAY)
            connection.execute(decisions.GIVE_UP_HOPELESS)
            if connection.execute(decisions.ANY_QUARANTINED).scalar_one():
                connection.execute(decisions.GIVE_UP_WITHOUT_NODES)
            if ended := connection.execute(decisions.END_CAMPAIGNS).scalars().all():
                connection.execute(decisions.ANALYSE_WHAT_GREW, {"campaigns": ended})
            connection.execute(decisions.COUNT_ANEW)

    def analysis_due(self) -> bool:
        """Is there analysis work that nobody has leased?"""
        with self._deciding() as connection:
            return bool(connection.execute(decisions.ANALYSIS_DUE).scalar_one())

    def wait(self, timeout_s: float) -> bool:
        """Sleep until the database says that something changed, at most `timeout_s`; did it?"""
        if self._listener is None or self._listener.closed:
            self._listener = self._database.listening()
            return True  # whatever was said before we listened, look once
        with self._database.translating():
            return bool(list(self._listener.notifies(timeout=timeout_s, stop_after=1)))

    def close(self) -> None:
        """Stop listening, and give connections back."""
        if self._listener is not None:
            self._listener.close()
        self._database.close()

    @contextmanager
    def _deciding(self) -> Iterator[Connection]:
        if self._pass is not None:
            yield self._pass
        else:
            with self._database.writing() as connection:
                yield connection


def _offers(rows: Any) -> list[Offer]:
    return [Offer(job_id=row.job_id, node=row.node) for row in rows]
