"""One job as a story: claim, prepare, run again and again, keep, bring home, give back."""

from __future__ import annotations

import itertools
import logging
import math
import time
import uuid
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

from orchestrator.contracts.engines import for_setting
from orchestrator.contracts.errors import JobFailure, MissingPartError, UnavailableError
from orchestrator.contracts.jobs import Assignment, Ending, Failure, FailureKind, Pending
from orchestrator.contracts.preparation import Preparation
from orchestrator.contracts.runs import Run
from orchestrator.logs import bound
from orchestrator.store.ports import Store
from workers.benchmarks import engines
from workers.benchmarks.engines import Bench
from workers.benchmarks.port import Engine, Failed, Stopped, Succeeded, Task, TimedOut
from workers.benchmarks.replay import Replay
from workers.criticality import OwnCriticality
from workers.homecoming import Homecoming
from workers.lease import Lease
from workers.node.inventory import DEFAULT_TARGET
from workers.node.prepare import After, Node, prepared
from workers.node.untouched import UntouchedNode
from workers.node.warmth import warm_modes
from workers.run_ids import run_id

logger = logging.getLogger(__name__)

LONG_PREPARATION_S = 1.0
"""TRIM and cooling down may take their time, and the lease goes on meanwhile."""
LOOKS_UP_S = 0.1
"""Whether it is to leave, while it waits for its round."""
SHORT_RUN_S = 0.1
"""After a run shorter than this the connection stays, silent, over the next: to open another costs more than a job."""
Finished = Succeeded | Failed | TimedOut
"""What is recorded as a run; `Stopped` is none."""


@dataclass(kw_only=True)
class Workplace:
    """What stays between the jobs of one session."""

    store: Store
    session: uuid.UUID
    bench: Bench
    homecoming: Homecoming
    shared: bool = False
    """The controller, and maybe other agents, work on this machine as well."""
    criticality: OwnCriticality | None = None
    """None: no model was looked for."""
    leaving: bool = False
    """Told to stop: no run starts any more."""
    lease: Lease | None = None
    """Of the job in hand."""
    sequence: int = 0
    previous_setting_id: int | None = None
    previous_run_s: float = math.inf
    """How long the latest run took."""


class GivenBack(Exception):  # noqa: N818 - not an error: the story ends early
    """The rest of the job is for later, or for another agent."""


def execute(job_id: int, at: Workplace) -> None:
    """Carry a job out if it may be had, and what else is offered by then; a hint about one that may not ends here."""
    asked_at = time.monotonic()
    try:
        assignment = at.store.jobs.claim(job_id, at.session)
    except UnavailableError as away:
        logger.warning("not claimed: %s", away, extra={"job": job_id})
        return
    while assignment is not None:
        with bound(job=assignment.job_id, campaign=assignment.campaign_id, attempt=assignment.attempt):
            asked_at, assignment = _hold(assignment, at, asked_at=asked_at)


def _hold(assignment: Assignment, at: Workplace, *, asked_at: float) -> tuple[float, Assignment | None]:
    """From the claim to the end of the lease; the job that was claimed then, and when that was asked for."""
    logger.info("claimed: %d runs of %s", len(assignment.pending), assignment.engine)
    at.bench.runner.stop.clear()  # it was meant for the job before
    at.lease = Lease(at.store, assignment, asked_at=asked_at)
    try:
        if at.leaving:
            raise GivenBack
        failure = _carry_out(assignment, at)
        ending = Ending.COMPLETE if failure is None else Ending.FAIL
    except GivenBack:
        failure, ending = None, Ending.RELEASE
    finally:
        at.lease = None
    if failure is not None:
        logger.warning("failed (%s): %s", failure.kind, failure.reason)
    asked_at = time.monotonic()
    following = at.homecoming.give_back(assignment, ending, failure, next_for=None if at.leaving else at.session)
    logger.info("given back: %s", ending)
    return asked_at, following


def _carry_out(assignment: Assignment, at: Workplace) -> Failure | None:
    """Prepare the node and measure every pending replicate; the failure that ended it, if one did."""
    task = Task(setting=assignment.setting, modes=assignment.modes)
    try:
        options = for_setting(assignment.engine, assignment.engine_options, task.setting)
        bench = at.bench.aimed_at(options.get("target", DEFAULT_TARGET))
        engine = engines.engine(assignment.engine, options, bench)
        version = engine.version()
        engine.prepare(task)
        with _prepared(assignment, task, bench, shared=at.shared) as node:
            series = _Series(assignment=assignment, task=task, engine=engine, version=version, node=node, at=at)
            for pending in assignment.pending:
                series.measure(pending)
    except MissingPartError as missing:
        return Failure(kind=FailureKind.NODE, reason=str(missing))
    except JobFailure as failed:
        return Failure(kind=FailureKind(failed.kind), reason=failed.reason)
    except (
        OSError
    ) as refused:  # a full disk, a file system gone read-only: whatever was being done, the node is at fault
        return Failure(kind=FailureKind.NODE, reason=_refusal(refused, at.bench))
    return None


def _refusal(refused: OSError, bench: Bench) -> str:
    """A write names no file in its error; what an agent keeps open and writes to is in its state folder."""
    return str(refused) if refused.filename is not None else f"{bench.state}: {refused.strerror or refused}"


def _prepared(
    assignment: Assignment, task: Task, bench: Bench, *, shared: bool
) -> AbstractContextManager[Node | UntouchedNode]:
    """The node as the study wants it; as it is for an engine that plays runs back instead of measuring."""
    if assignment.engine == Replay.name:
        return nullcontext(UntouchedNode())
    return prepared(Preparation.from_dict(assignment.node_options), task.setting, bench, shared=shared)


@dataclass(frozen=True, kw_only=True)
class _Series:
    """The runs of one job."""

    assignment: Assignment
    task: Task
    engine: Engine
    version: str
    node: Node | UntouchedNode
    at: Workplace

    def measure(self, pending: Pending) -> None:
        """Run one replicate until it is valid. Raises JobFailure when it never is."""
        tries = self.assignment.max_tries
        for try_number in itertools.count(pending.attempt):
            run, kind = self._run(pending.replicate, try_number)
            self.at.homecoming.keep(run)
            if run.valid:
                return
            if kind is not FailureKind.ENGINE and not run.values:
                raise JobFailure(kind, str(run.reason))
            if (try_number + 1 - (0 if self._in_lockstep else pending.attempt)) % tries == 0:
                raise JobFailure(kind, f"invalid {tries} times in a row: {run.reason}")
            if self._in_lockstep:
                raise GivenBack  # the next try begins with those who are left of the round

    @property
    def _in_lockstep(self) -> bool:
        return self.assignment.round is not None

    def _run(self, replicate: int, try_number: int) -> tuple[Run, FailureKind]:
        """Nothing is written or sent between the preparation and the end of the benchmark (DESIGN 5)."""
        lease = self._go_on()
        begun_at = time.monotonic()
        before = self.node.before_run()
        if time.monotonic() - begun_at > LONG_PREPARATION_S:
            lease = self._go_on()
        if self._in_lockstep:
            lease = self._begin_together()
        started_at = lease.database_time()
        self.node.begin_run()
        task = replace(self.task, between_invocations=self.node.between_invocations)
        outcome = self.engine.run(task, replicate)
        if isinstance(outcome, Stopped):
            raise GivenBack
        after = self.node.after_run(before)
        return self._record(outcome, replicate, try_number, started_at, after), _fault(outcome)

    def _begin_together(self) -> Lease:
        """Wait until all who are ready for the round begin; nothing is sent any more when their instant is known."""
        lease = self._go_on()
        while (answer := lease.line_up()).start_at is None:
            if self.at.leaving or not answer.granted or answer.stop is not None:
                raise GivenBack
            time.sleep(answer.again_s)
        self.at.store.hang_up()
        while (left_s := answer.start_at - lease.database_time()) > 0:
            if self.at.leaving:
                raise GivenBack
            time.sleep(min(left_s, LOOKS_UP_S))
        return lease

    def _clock(self) -> dict[str, object]:
        """How far this node's clock is ahead of the database's, by what was measured at the claim."""
        if self.at.lease is None or self.engine.name == Replay.name:
            return {}
        return {"clock_ahead_s": round(time.time() - self.at.lease.database_time(), 3)}

    def _criticality(self, after: After) -> dict[str, object]:
        if self.at.criticality is None:
            return {}
        return self.at.criticality.of_run(after.observed, self.assignment.setting)

    def _warm(self) -> dict[str, object]:
        warm = warm_modes(self.engine.name, self.assignment.engine_options, self.task.modes)
        return {"warm": list(warm)} if warm else {}

    def _go_on(self) -> Lease:
        """May the next run start? Raises GivenBack when it may not."""
        lease = self.at.lease
        if self.at.leaving or lease is None:
            raise GivenBack
        if lease.is_short():
            self._send_ahead()
            renewal = lease.renew()
            if not renewal.granted or renewal.stop is not None:
                raise GivenBack
        if self.at.previous_run_s >= SHORT_RUN_S:
            self.at.store.hang_up()
        return lease

    def _send_ahead(self) -> None:
        """The database is spoken to anyway: let it have what is done so far."""
        try:
            self.at.homecoming.upload()
        except UnavailableError as away:
            logger.warning("the runs so far stay in the spool: %s", away)

    def _record(self, outcome: Finished, replicate: int, try_number: int, started_at: float, after: After) -> Run:
        self.at.sequence += 1
        self.at.previous_run_s = outcome.elapsed_s
        previous, self.at.previous_setting_id = self.at.previous_setting_id, self.assignment.setting_id
        return Run(
            id=run_id(),
            campaign_id=self.assignment.campaign_id,
            setting_id=self.assignment.setting_id,
            job_id=self.assignment.job_id,
            attempt=self.assignment.attempt,
            replicate=replicate,
            try_number=try_number,
            session=self.at.session,
            sequence=self.at.sequence,
            started_at=started_at,
            elapsed_s=outcome.elapsed_s,
            engine=self.engine.name,
            engine_version=self.version,
            exit_status=None if isinstance(outcome, TimedOut) else outcome.exit_status,
            values=outcome.values if isinstance(outcome, Succeeded) else (),
            valid=isinstance(outcome, Succeeded) and after.reason is None,
            reason=_reason(outcome) or after.reason,
            settle_s=self.engine.settle_s,
            previous_setting_id=previous,
            details=_details(outcome),
            observed={**after.observed, **self._warm(), **self._clock(), **self._criticality(after)},
        )


def _fault(outcome: Finished) -> FailureKind:
    """Whose fault it is when no try of this run counts: of a run that succeeded the gate can only blame the node."""
    match outcome:
        case Failed(kind=kind):
            return kind
        case TimedOut():
            return FailureKind.ENGINE
    return FailureKind.NODE


def _reason(outcome: Finished) -> str | None:
    match outcome:
        case TimedOut():
            return f"took longer than {outcome.timeout_s:g} s"
        case Failed():
            return outcome.reason
    return None


def _details(outcome: Finished) -> Mapping[str, object]:
    """What the engine says about each mode; of a run that failed, what it printed."""
    match outcome:
        case Succeeded():
            return outcome.details
        case Failed() | TimedOut():
            return {"output": outcome.output}
