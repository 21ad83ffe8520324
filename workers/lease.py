"""The holder's side of a lease: how long it lasts by our own clock, and what renewing it brings (DESIGN 3)."""

from __future__ import annotations

import logging
import time

from orchestrator.contracts.errors import UnavailableError
from orchestrator.contracts.jobs import Assignment, LineUp, Renewal
from orchestrator.store import rules
from orchestrator.store.ports import Store

logger = logging.getLogger(__name__)

SPARE_S = 5.0
"""What must be left beyond one run's time-out before it may start. The lease is granted with 15 s to spare, so a job of
short runs speaks to the database at most once in ten seconds."""
AWAY_S = 1.0
"""Between two questions to a database that is away."""


class Lease:
    """Time is measured on this machine's monotonic clock from the moment before the claim was sent."""

    def __init__(self, store: Store, assignment: Assignment, *, asked_at: float) -> None:
        self._store = store
        self._job_id = assignment.job_id
        self._token = assignment.token
        self._lasts_s = assignment.lease_s
        self._run_s = assignment.lease_s - rules.LEASE_MARGIN_S
        self._ends_at = asked_at + assignment.lease_s
        self._offset_s = assignment.database_time - time.monotonic()
        self._answered_in_s = float("inf")

    def database_time(self) -> float:
        """Now, in seconds since the epoch on the database's clock."""
        return time.monotonic() + self._offset_s

    def heard(self, database_time: float, *, asked_at: float) -> None:
        """The database told its time: of all answers the quickest is kept, and taken for the middle of its way."""
        took_s = time.monotonic() - asked_at
        if took_s < self._answered_in_s:
            self._answered_in_s = took_s
            self._offset_s = database_time - (asked_at + took_s / 2)

    def is_short(self) -> bool:
        """Would the next run outlast it?"""
        return self._ends_at - time.monotonic() < self._run_s + SPARE_S

    def line_up(self) -> LineUp:
        """Ask when the round begins. Without the database nobody can tell: ask again."""
        asked_at = time.monotonic()
        try:
            answer = self._store.jobs.line_up(self._job_id, self._token)
        except UnavailableError as away:
            logger.warning("the round has to wait: %s", away)
            return LineUp(granted=True, again_s=AWAY_S)
        if answer.granted:
            self._ends_at = asked_at + self._lasts_s
        if answer.database_time is not None:
            self.heard(answer.database_time, asked_at=asked_at)
        return answer

    def renew(self) -> Renewal:
        """Ask for more. A database that is away grants nothing and takes nothing: the job goes on to its end."""
        asked_at = time.monotonic()
        try:
            answer = self._store.jobs.renew(self._job_id, self._token)
        except UnavailableError as away:
            logger.warning("goes on without renewing its lease: %s", away)
            return Renewal(granted=True)
        if answer.granted:
            self._ends_at = asked_at + self._lasts_s
        return answer
