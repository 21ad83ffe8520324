"""Logs of jobs from elsewhere: what there is, what matched, and each execution beside its file system."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.contracts.job_logs import LogCounts, ProgramLog
from orchestrator.job_logs import heat, kept
from orchestrator.job_logs.heat import Around
from orchestrator.report import job_logs
from orchestrator.store.ports import Store

SHOWN = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Execution:
    """One line of the table."""

    log: ProgramLog
    file_system: str
    watched: bool
    """LMT has seen its file system at some time."""
    scheduled: bool
    """The scheduler told of its job."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """The newest executions."""

    counts: LogCounts
    executions: tuple[Execution, ...]
    hidden: int


@dataclass(frozen=True, kw_only=True, slots=True)
class OfJob:
    """The executions of one job."""

    job_id: str
    executions: tuple[Around, ...]


def gather(store: Store) -> Content:
    """Newest first."""
    logs = store.job_logs
    found = logs.program_logs()[::-1]
    mounts, systems = logs.mounts(), {one.name for one in logs.file_systems()}
    scheduled = {job.job_id for job in logs.scheduled_jobs()}
    names = [mounts.get(log.mount or "", log.mount or "unknown") for log in found]
    return Content(
        counts=logs.counts(),
        executions=tuple(
            Execution(log=log, file_system=name, watched=name in systems, scheduled=log.job_id in scheduled)
            for log, name in zip(found[:SHOWN], names, strict=False)
        ),
        hidden=max(len(found) - SHOWN, 0),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """How well throughput is told before a job starts."""

    executions: int
    wanted: int
    """Fewer are not looked at."""
    found: job_logs.Content | None


def told(store: Store) -> Told:
    """It takes seconds when there is news."""
    evaluated = kept.of_logs(store)
    return Told(
        executions=store.job_logs.counts().program_logs,
        wanted=kept.FEWEST,
        found=None if evaluated is None else job_logs.content_of(evaluated, seed=0),
    )


def of_job(store: Store, job_id: str) -> OfJob:
    """Raises NotFoundError."""
    return OfJob(job_id=job_id, executions=tuple(heat.around(store.job_logs, job_id)))
