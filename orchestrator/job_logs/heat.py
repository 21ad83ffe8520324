"""What was written to each OST around a job: rows of a heat map, and a page with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from orchestrator.contracts.errors import NotFoundError
from orchestrator.contracts.job_logs import ProgramLog
from orchestrator.report import job_log_pictures as pictures
from orchestrator.store import ports

AROUND_S = 300.0


@dataclass(frozen=True, kw_only=True)
class Around:
    """One execution, with its picture; None where its file system was not watched."""

    log: ProgramLog
    file_system: str
    picture: Markup | None


def around(logs: ports.JobLogs, job_id: str, *, around_s: float = AROUND_S) -> list[Around]:
    """The executions of a job. Raises NotFoundError where there is none."""
    found = [log for log in logs.program_logs() if log.job_id == job_id]
    if not found:
        raise NotFoundError(f"job {job_id}: no execution of it is in the database; `modescope logs ingest` adds logs")
    mounts = logs.mounts()
    return [_of(logs, log, mounts.get(log.mount or "", log.mount or "unknown"), around_s) for log in found]


def page_of(logs: ports.JobLogs, job_id: str, *, around_s: float) -> str:
    """One HTML page that needs nothing else."""
    environment = Environment(loader=PackageLoader("orchestrator.report"), autoescape=True, undefined=StrictUndefined)
    found = around(logs, job_id, around_s=around_s)
    return environment.get_template("job_heat.html").render(job_id=job_id, found=found)


def _of(logs: ports.JobLogs, log: ProgramLog, name: str, around_s: float) -> Around:
    systems = {one.name: one for one in logs.file_systems()}
    end_s = log.started_s + log.runtime_s
    samples = logs.samples(name, from_s=log.started_s - around_s, to_s=end_s + around_s) if name in systems else []
    if len(samples) < 2:
        return Around(log=log, file_system=name, picture=None)
    picture = pictures.heat_map(
        systems[name].osts,
        np.array([one.written_bytes_per_s for one in samples]),
        at_s=np.array([one.at_s for one in samples]),
        from_s=log.started_s,
        to_s=end_s,
        label=f"{log.program}: bytes written to each OST of {name}",
    )
    return Around(log=log, file_system=name, picture=picture)
