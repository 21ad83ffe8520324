"""The agent of one node: one life from its lock to its goodbye (DESIGN 3, 5, 6, 10)."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from dataclasses import replace
from importlib import metadata
from pathlib import Path

from orchestrator.contracts.errors import UnavailableError
from orchestrator.contracts.nodes import Hello
from orchestrator.store.ports import Store
from workers.benchmarks import engines
from workers.benchmarks.engines import Bench
from workers.benchmarks.process import Runner
from workers.benchmarks.stop import Stop
from workers.criticality import OwnCriticality
from workers.execute import Workplace, execute
from workers.homecoming import Homecoming
from workers.node import facts, groups, inventory, lock
from workers.node.journal import Journal
from workers.node.prepare import restore
from workers.spool import Spool

logger = logging.getLogger(__name__)

STOP_GRACE_S = 60.0
"""How long a run in flight may go on after SIGTERM."""
DATABASE_PAUSE_S = 1.0
REST_S = 1.0
"""How long an agent without a job keeps its connection: the next job mostly follows at once."""


class Agent:
    """Everything a node does, behind four words: start, idle, run_job, leave."""

    def __init__(self, store: Store, *, node: str, home: Path, shared: bool = False) -> None:
        self.node = node
        self.session = uuid.uuid4()
        self._store = store
        state = home / "nodes" / node
        self._home = home
        self._lock = lock.hold(state)
        self._stop = Stop()
        self._journal = Journal(state)
        self._bench = Bench(
            node=node, runner=Runner(self._journal, self._stop), inventory=inventory.load(home), state=state
        )
        self._state = state
        self._shared = shared
        self._workplace: Workplace | None = None
        self._grace = threading.Timer(STOP_GRACE_S, self._stop.set)
        self._grace.daemon = True
        self._hello: Hello | None = None
        self._worked_at = time.monotonic()

    def start(self) -> None:
        """End and restore what an earlier life left, bring its runs home, then report for work."""
        self._journal.kill_survivors()
        restore(self._bench)
        self._make_default_target()
        for target in self._bench.targets:
            target.sweep()
        spool = Spool(self._state, self._ledger())
        if spool.kept_aside is not None:
            logger.error("a spool of another ledger is kept in %s", spool.kept_aside)
        homecoming = Homecoming(self._store, spool, self._state / "refused.jsonl", self._introduce)
        self._workplace = Workplace(
            store=self._store,
            session=self.session,
            bench=self._bench,
            homecoming=homecoming,
            shared=self._shared,
            criticality=OwnCriticality(self._state),
        )
        self._hello = self._introduction()
        waiting = homecoming.waiting
        while not (homecoming.catch_up() and self._report(waiting)):
            self._stop.wait(DATABASE_PAUSE_S)
        self._store.jobs.release_node(self.node, self.session)

    def idle(self) -> None:
        """Be heard of, and bring home what could not be brought before. Never called while a job runs."""
        if self._workplace is not None:
            waiting = self._workplace.homecoming.waiting
            if self._workplace.homecoming.catch_up():
                self._report(waiting)
        self._store.hang_up()

    def rest(self) -> None:
        """Bring home what could not be brought; hold no connection when there has been no job for a moment."""
        if self._workplace is not None and self._workplace.homecoming.is_behind:
            self._workplace.homecoming.catch_up()
        if time.monotonic() - self._worked_at >= REST_S:
            self._store.hang_up()

    def run_job(self, job_id: int) -> None:
        """Carry out one job, if it may be had."""
        if self._workplace is None or self._workplace.leaving:
            return
        execute(job_id, self._workplace)
        self._worked_at = time.monotonic()

    def look_up(self) -> None:
        """Somebody says that the run in flight is not wanted any more: ask the ledger, and end it if that is true."""
        lease = self._workplace.lease if self._workplace is not None else None
        if lease is not None and not lease.renew().granted:
            self._stop.set()
        self._store.hang_up()

    def leave(self) -> None:
        """Start no run any more; end the one in flight when its grace is over."""
        if self._workplace is not None and not self._workplace.leaving:
            self._workplace.leaving = True
            self._grace.start()

    def close(self) -> None:
        """Say goodbye; the node is offline at once."""
        self._grace.cancel()
        try:
            self._store.nodes.goodbye(self.session)
        except UnavailableError as away:
            logger.warning("no goodbye: %s", away)
        if self._workplace is not None:
            self._workplace.homecoming.close()
        self._bench.runner.close()
        self._store.close()
        self._stop.close()
        self._lock.close()

    def _make_default_target(self) -> None:
        """The home's own target folder is ours to make; one that the inventory names is its operator's."""
        target = self._bench.target.path
        if target == self._home / inventory.HOME_TARGET:
            target.mkdir(exist_ok=True)

    def _report(self, waiting: int) -> bool:
        """We are here, and so many runs had waited; False when nobody hears us."""
        assert self._hello is not None  # noqa: S101 - set by start(), which everything else follows
        try:
            self._store.nodes.hello(replace(self._hello, spool_runs=waiting))
        except UnavailableError as away:
            logger.warning("nobody hears us: %s", away)
            return False
        return True

    def _introduce(self, session: uuid.UUID) -> None:
        """A session of this node; of an earlier one nobody knows any more which boot it was."""
        assert self._hello is not None  # noqa: S101 - set by start(), before anything comes home
        boot_id = self._hello.boot_id if session == self.session else "unknown"
        self._store.nodes.hello(replace(self._hello, session=session, boot_id=boot_id))

    def _introduction(self) -> Hello:
        available = engines.available(self._bench)
        return Hello(
            node=self.node,
            session=self.session,
            boot_id=groups.boot_id(),
            version=metadata.version("modescope"),
            engines=available,
            facts=facts.collect(self._bench.target.path, available),
        )

    def _ledger(self) -> uuid.UUID:
        """Which ledger this is; waits for a database that is away."""
        while True:
            try:
                return self._store.ledger
            except UnavailableError as away:
                logger.warning("%s", away)
                time.sleep(DATABASE_PAUSE_S)
