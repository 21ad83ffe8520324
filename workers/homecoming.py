"""Bringing runs and jobs home: what the database could not be told yet waits here, and in the spool."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from orchestrator.contracts.errors import ConflictError, UnavailableError
from orchestrator.contracts.jobs import Assignment, Ending, Failure
from orchestrator.contracts.runs import Receipt, Run
from orchestrator.store.ports import Store
from workers.spool import Spool

logger = logging.getLogger(__name__)

BATCH = 500
"""Runs sent in one statement."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Return:
    """A job to be given back."""

    assignment: Assignment
    ending: Ending
    failure: Failure | None


class Homecoming:
    """Runs first, then the job that made them: a job is never called complete before its runs are in."""

    def __init__(
        self, store: Store, spool: Spool, refused: Path, introduce: Callable[[UUID], None] = lambda _session: None
    ) -> None:
        """`introduce`: tell the ledger about a session, which one restored from a backup may never have heard of."""
        self._introduce = introduce
        self._store = store
        self._spool = spool
        self._refused = refused
        """Where runs go that the ledger will not have: kept for a person to look at."""
        self._returns: list[_Return] = []

    @property
    def waiting(self) -> int:
        """Runs that are not home yet."""
        return len(self._spool.pending())

    def keep(self, run: Run) -> None:
        """On this node's disk, at once."""
        self._spool.append(run)

    def give_back(
        self, assignment: Assignment, ending: Ending, failure: Failure | None, *, next_for: UUID | None = None
    ) -> Assignment | None:
        """Upload and end the job; what does not get through is tried again by `catch_up`.

        Returns the job to go on with, if `next_for`, this node's session, is given and one is offered to it.
        """
        job = _Return(assignment=assignment, ending=ending, failure=failure)
        if not self._returns and len(self._spool.pending()) <= BATCH:
            try:
                return self._hand_over(job, next_for)
            except ConflictError as unfit:
                logger.warning("one by one, for not all of them fit: %s", unfit)
            except UnavailableError as away:
                logger.warning("not handed over: %s", away)
        self._returns.append(job)
        self._spool.sync()  # only what does not get home has to outlive a power loss
        self.catch_up()
        return None

    def catch_up(self) -> bool:
        """Try to bring everything home; False when the database is away."""
        try:
            self.upload()
            while self._returns:
                job = self._returns[0]
                self._store.jobs.finish(job.assignment.job_id, job.assignment.token, job.ending, job.failure)
                self._returns.pop(0)
        except UnavailableError as away:
            logger.warning("%d runs and %d jobs wait: %s", len(self._spool.pending()), len(self._returns), away)
            return False
        return True

    @property
    def is_behind(self) -> bool:
        """Does a job wait to be given back? Its lease goes on as if it were still worked on, and may run out."""
        return bool(self._returns)

    def close(self) -> None:
        """Leave the spool on the disk, with what is in it."""
        self._spool.close()

    def upload(self) -> None:
        """Send what the spool holds. Raises UnavailableError."""
        while batch := self._spool.pending()[:BATCH]:
            try:
                self._take_in(batch)
            except ConflictError:
                for session in {run.session for run in batch}:
                    self._introduce(session)
                for run in batch:
                    self._take_in_or_refuse(run)
            self._spool.acknowledge([run.id for run in batch])

    def _hand_over(self, job: _Return, next_for: UUID | None) -> Assignment | None:
        """The usual case in one call."""
        runs = self._spool.pending()
        handed = self._store.jobs.hand_over(
            runs, job.assignment.job_id, job.assignment.token, job.ending, job.failure, next_for=next_for
        )
        self._note(handed.receipt)
        self._spool.acknowledge([run.id for run in runs])
        return handed.next

    def _take_in(self, batch: Sequence[Run]) -> None:
        self._note(self._store.runs.record(batch))

    def _note(self, receipt: Receipt) -> None:
        for run_id in receipt.conflicting:
            logger.error("run %s is in the ledger with other values; the ledger's stay", run_id)

    def _take_in_or_refuse(self, run: Run) -> None:
        """One run that does not fit must not hold up the others."""
        try:
            self._take_in([run])
        except ConflictError as unfit:
            logger.error("%s; it is kept in %s", unfit, self._refused)
            with self._refused.open("a") as file:
                file.write(json.dumps(run.as_dict()) + "\n")
