"""An agent without a machine: it says what agents say, and invents what it measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from uuid import uuid4

from orchestrator.contracts.jobs import Assignment, Ending, Failure, FailureKind, Pending
from orchestrator.contracts.nodes import Hello, Node
from orchestrator.contracts.runs import Receipt, Run
from tests.contract.stores import StoreUnderTest

MANY = 50
"""More jobs than any study here has: nothing a test does may go on for ever."""
ENGINES = {"builtin": "1", "iozone": "3.489"}


class Agent:
    """One session on one node."""

    def __init__(self, store: StoreUnderTest, node: str = "n1", *, engines: dict[str, str] | None = None) -> None:
        self.store = store
        self.node = node
        self.session = uuid4()
        self.engines = ENGINES if engines is None else engines
        self._sequence = count()
        self._last_job: int | None = None
        self.hello()

    def hello(self) -> None:
        boot = "9a1b"
        self.store.nodes.hello(
            Hello(node=self.node, session=self.session, boot_id=boot, version="0.1.0", engines=self.engines)
        )

    def claim(self, job_id: int) -> Assignment | None:
        return self.store.jobs.claim(job_id, self.session)

    def take(self) -> Assignment:
        """Claim something that is offered to this node, after a pass of the dispatcher.

        Like a queue: what it had last comes last.
        """
        assignment = self.try_to_take()
        assert assignment is not None, f"nothing is offered to {self.node}"
        return assignment

    def try_to_take(self) -> Assignment | None:
        self.store.control.dispatch()
        offers = [offer.job_id for offer in self.store.control.unheard(older_than_s=0) if offer.node == self.node]
        if not offers:
            return None
        self._last_job = min(offers, key=lambda job_id: (job_id == self._last_job, job_id))
        return self.claim(self._last_job)

    def run(self, job: Assignment, pending: Pending | None = None, *, valid: bool = True) -> Run:
        """A run of one replicate, of the first that is missing by default."""
        wanted = job.pending[0] if pending is None else pending
        return Run(
            id=uuid4(),
            campaign_id=job.campaign_id,
            setting_id=job.setting_id,
            job_id=job.job_id,
            attempt=job.attempt,
            replicate=wanted.replicate,
            try_number=wanted.attempt,
            session=self.session,
            sequence=next(self._sequence),
            started_at=job.database_time,
            elapsed_s=0.25,
            engine=job.engine,
            engine_version="1",
            exit_status=0 if valid else 1,
            values=tuple(1000.0 * wanted.replicate + column for column in range(len(job.modes))) if valid else (),
            valid=valid,
            reason=None if valid else "exit status 1",
        )

    def record(self, *runs: Run) -> Receipt:
        return self.store.runs.record(runs)

    def measure(self, job: Assignment, *, only: int | None = None) -> Receipt:
        """Valid runs of all replicates that are missing, or of `only` so many."""
        return self.record(*(self.run(job, pending) for pending in job.pending[:only]))

    def finish(self, job: Assignment, ending: Ending = Ending.COMPLETE) -> bool:
        return self.store.jobs.finish(job.job_id, job.token, ending)

    def fail(self, job: Assignment, kind: FailureKind, reason: str = "it broke") -> bool:
        failure = Failure(kind=kind, reason=reason)
        return self.store.jobs.finish(job.job_id, job.token, Ending.FAIL, failure)

    def work(self) -> None:
        """Take one job and carry it out."""
        job = self.take()
        self.measure(job)
        assert self.finish(job)

    def work_off(self, *, jobs: int = MANY) -> None:
        """Carry out at most `jobs` jobs, until none is offered; then let the controller draw its conclusions."""
        for _ in range(jobs):
            job = self.try_to_take()
            if job is None:
                break
            self.measure(job)
            assert self.finish(job)
        self.store.control.reconcile()

    def shown(self) -> Node:
        """The node as the store shows it."""
        return next(node for node in self.store.nodes.all() if node.name == self.node)


def with_values(run: Run, values: Sequence[float]) -> Run:
    """The same run, with other values."""
    return replace(run, values=tuple(values))


def with_new_id(run: Run) -> Run:
    """Another run of the same replicate, with the same values."""
    return replace(run, id=uuid4())
