"""Logs into the service's database, and what became of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Any

from orchestrator.cli import files
from orchestrator.contracts.errors import TableError
from orchestrator.contracts.job_logs import ProgramLog
from orchestrator.job_logs import darshan_logs, lmt, scheduler
from orchestrator.job_logs.darshan_logs import Unreadable
from orchestrator.job_logs.joining import COLUMNS, Joined, join
from orchestrator.store import ports

BATCH = 200
EVERY = 100  # logs between two lines of progress

Report = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Sources:
    """What to read."""

    scheduler: Sequence[Path] = ()
    scheduler_fields: Sequence[str] | None = None
    darshan: Sequence[Path] = ()
    lmt: Sequence[Path] = ()
    mounts: Mapping[str, str]
    zone: tzinfo


def ingest(logs: ports.JobLogs, sources: Sources, *, report: Report) -> dict[str, Any]:
    """Read and keep; what cannot be read is told and passed over. Raises TableError, MissingPartError."""
    unreadable: list[Unreadable] = []
    told: dict[str, Any] = {
        "scheduled_jobs": _ingest_jobs(logs, sources, report),
        "file_system_samples": _ingest_samples(logs, sources, unreadable, report),
        "program_logs": _ingest_programs(logs, sources.darshan, unreadable, report),
    }
    logs.set_mounts(sources.mounts)
    return {
        **told,
        "unreadable": [{"path": str(one.path), "reason": one.reason} for one in unreadable],
        "stored": asdict(logs.counts()),
        "matched": matched(logs),
    }


def matched(logs: ports.JobLogs) -> dict[str, Any]:
    """How many executions found their job and their file system, and which mounts nobody knows."""
    found = list(joined(logs))
    mounts, systems = logs.mounts(), {one.name for one in logs.file_systems()}
    executions = logs.program_logs()
    unknown = sorted({log.mount for log in executions if log.mount and mounts.get(log.mount, log.mount) not in systems})
    ran = {log.job_id for log in executions}
    return {
        "executions": len(found),
        "with_job": sum(one.with_job for one in found),
        "with_file_system": sum(one.with_file_system for one in found),
        "without_throughput": sum("Throughput" not in one.row for one in found),
        "jobs_without_execution": sum(job.job_id not in ran for job in logs.scheduled_jobs()),
        "mounts_without_file_system": unknown,
    }


def joined(logs: ports.JobLogs, *, newest: int | None = None) -> Iterator[Joined]:
    """A row for each execution, or for so many of the newest, in the order of their start."""

    def samples_of(name: str, from_s: float, to_s: float) -> Any:
        return logs.samples(name, from_s=from_s, to_s=to_s)

    found = logs.program_logs()
    chosen = found if newest is None else found[-newest:]
    return join(chosen, logs.scheduled_jobs(), logs.file_systems(), logs.mounts(), samples_of)


def write_table(rows: Sequence[Mapping[str, object]], out: Path | None) -> str:
    """As CSV that `logs evaluate` reads; the text, and the file where one is named."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(COLUMNS), lineterminator="\n", restval="", extrasaction="ignore")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: f"{cell:.10g}" if isinstance(cell, float) else cell for name, cell in row.items()})
    if out is not None:
        files.write_whole(out, [text.getvalue().encode()])
    return text.getvalue()


def sentences(told: Mapping[str, Any]) -> Iterator[str]:
    """The report in words."""
    for kind, words in (
        ("scheduled_jobs", "jobs of the scheduler"),
        ("program_logs", "Darshan logs"),
        ("file_system_samples", "samples of file systems"),
    ):
        yield f"{words}: {told[kind]['read']:,} read, {told[kind]['new']:,} new"
    for one in told["unreadable"]:
        yield f"not read: {one['path']}: {one['reason']}"
    found = told["matched"]
    yield (
        f"executions: {found['executions']:,}; with their job {found['with_job']:,}; with their file system "
        f"{found['with_file_system']:,}; without a throughput {found['without_throughput']:,}"
    )
    yield f"jobs without an execution: {found['jobs_without_execution']:,}"
    for mount in found["mounts_without_file_system"]:
        yield f"no samples are of the file system at {mount}: --mount {mount}=NAME says how LMT calls it"


def _ingest_jobs(logs: ports.JobLogs, sources: Sources, report: Report) -> dict[str, int]:
    read = new = 0
    for path in sources.scheduler:
        jobs = scheduler.read_scheduled_jobs(path, zone=sources.zone, names=sources.scheduler_fields)
        read, new = read + len(jobs), new + logs.add_scheduled_jobs(jobs)
        report(f"{path}: {len(jobs):,} jobs")
    return {"read": read, "new": new}


def _ingest_samples(
    logs: ports.JobLogs, sources: Sources, unreadable: list[Unreadable], report: Report
) -> dict[str, int]:
    read = new = 0
    for path in sources.lmt:
        try:
            watched = lmt.read_lmt(path, zone=sources.zone)
        except TableError as error:
            unreadable.append(Unreadable(path=path, reason=str(error).removeprefix(f"{path}: ")))
            continue
        read += len(watched.samples)
        new += logs.add_samples(watched.file_system, watched.samples)
        report(f"{path}: {len(watched.samples):,} samples of {watched.file_system.name}")
    return {"read": read, "new": new}


def _ingest_programs(
    logs: ports.JobLogs, places: Sequence[Path], unreadable: list[Unreadable], report: Report
) -> dict[str, int]:
    paths = [path for place in places for path in darshan_logs.found_logs(place)]
    read = new = 0
    waiting: list[ProgramLog] = []
    for number, one in enumerate(darshan_logs.read_program_logs(paths) if paths else (), start=1):
        if isinstance(one, Unreadable):
            unreadable.append(one)
        else:
            waiting.append(one)
        if len(waiting) == BATCH or number == len(paths):
            read, new = read + len(waiting), new + logs.add_program_logs(waiting)
            waiting.clear()
        if number % EVERY == 0:
            report(f"{number:,} of {len(paths):,} Darshan logs")
    return {"read": read, "new": new}
