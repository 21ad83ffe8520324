"""One row for each execution of a program: its Darshan log, its job at the scheduler, its file system meanwhile.

Joined by job id, and by [start, start + runtime]: mean and 95th percentile, by the names of the paper's Tables 1 and 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array
from orchestrator.contracts.job_logs import FileSystem, FileSystemSample, ProgramLog, ScheduledJob

# Column -> unit, or what it counts. Every row has all of them; an empty cell is not known.
COLUMNS: Mapping[str, str] = {
    "JobID": "the scheduler's",
    "ProgName": "name",
    "UserName": "the scheduler's; the uid where it does not tell",
    "GroupID": "the scheduler's",
    "Partition": "the scheduler's",
    "FileSystem": "as LMT calls it; the mount point where no --mount says so",
    "Direction": "read or write: what moved more bytes",
    "StartTime": "s since 1970, UTC",
    "EndTime": "s since 1970, UTC",
    "RunTime": "s",
    "NumProcs": "processes",
    "NumNodes": "nodes",
    "StripeCount": "distinct OSTs",
    "StripeSize": "bytes, of the file with the largest",
    "NumFile": "files",
    "SeqReadPct": "% of read requests",
    "SeqWritePct": "% of write requests",
    "ConsecReadPct": "% of read requests",
    "ConsecWritePct": "% of write requests",
    "ReadLess1M": "read requests below 1 MiB",
    "WriteLess1M": "write requests below 1 MiB",
    "ReadLess1MPct": "% of read requests",
    "WriteLess1MPct": "% of write requests",
    "TotalMetaReq": "opens, stats, syncs",
    "TotalReadReq": "requests",
    "TotalWriteReq": "requests",
    "ReadBytesTotal": "bytes",
    "WriteBytesTotal": "bytes",
    "Throughput": "MiB/s, by the slowest process",
    "ReadThroughput": "MiB/s, by the slowest process",
    "WriteThroughput": "MiB/s, by the slowest process",
    "mdsCPUMean": "%",
    "mdsCPU95": "%",
    "mdsOPSMean": "operations/s",
    "mdsOPS95": "operations/s",
    "ossCPUMean": "%, mean over servers",
    "ossCPU95": "%, of the mean over servers",
    "ossReadMean": "bytes/s, sum over OSTs",
    "ossRead95": "bytes/s, sum over OSTs",
    "ossWriteMean": "bytes/s, sum over OSTs",
    "ossWrite95": "bytes/s, sum over OSTs",
    "WriteBytesPct": "% of the bytes written in the file system that went to the OSTs of this program's files",
}

SamplesOf = Callable[[str, float, float], Sequence[FileSystemSample]]
Row = dict[str, str | float]


@dataclass(frozen=True, kw_only=True)
class Joined:
    """A row, and what it was joined with."""

    row: Row
    with_job: bool
    with_file_system: bool


def join(
    logs: Sequence[ProgramLog],
    jobs: Sequence[ScheduledJob],
    file_systems: Sequence[FileSystem],
    mounts: Mapping[str, str],
    samples_of: SamplesOf,
) -> Iterator[Joined]:
    """Every execution in order; `samples_of(file system, from, to)` gives what LMT saw."""
    by_id = {job.job_id: job for job in jobs}
    known = {one.name: one for one in file_systems}
    for log in logs:
        job = by_id.get(log.job_id)
        name = mounts.get(log.mount or "", log.mount or "")
        file_system = known.get(name)
        samples = samples_of(name, log.started_s, log.started_s + log.runtime_s) if file_system else ()
        row = {**_of_program(log, name), **(_of_job(job) if job else {})}
        if file_system is not None and samples:
            row |= _meanwhile(samples) | _share_of_osts(log, file_system, samples)
        yield Joined(row=row, with_job=job is not None, with_file_system=bool(samples))


def _of_program(log: ProgramLog, file_system: str) -> Row:
    moved = {"read": log.features.get("ReadBytesTotal", 0.0), "write": log.features.get("WriteBytesTotal", 0.0)}
    return {
        **log.features,
        "JobID": log.job_id,
        "ProgName": log.program,
        "UserName": log.user,
        "FileSystem": file_system,
        "Direction": "write" if moved["write"] > moved["read"] else "read",
        "StartTime": log.started_s,
        "EndTime": log.started_s + log.runtime_s,
        "RunTime": log.runtime_s,
        "NumProcs": float(log.processes),
    }


def _of_job(job: ScheduledJob) -> Row:
    told = {
        "UserName": job.user,
        "GroupID": job.group,
        "Partition": job.partition,
        "NumNodes": None if job.nodes is None else float(job.nodes),
    }
    return {name: value for name, value in told.items() if value is not None}


def _meanwhile(samples: Sequence[FileSystemSample]) -> Row:
    """Table 2: mean and 95th percentile of each series, of the instants that are not missing."""
    series = {
        "mdsCPU": np.array([one.mds_cpu_percent for one in samples]),
        "mdsOPS": np.array([one.mds_ops_per_s for one in samples]),
        "ossCPU": _over_parts([one.oss_cpu_percent for one in samples], np.mean),
        "ossRead": _over_parts([one.read_bytes_per_s for one in samples], np.sum),
        "ossWrite": _over_parts([one.written_bytes_per_s for one in samples], np.sum),
    }
    row: Row = {}
    for name, values in series.items():
        told = values[np.isfinite(values)]
        if len(told):
            row |= {f"{name}Mean": float(np.mean(told)), f"{name}95": float(np.percentile(told, 95))}
    return row


def _over_parts(values: Sequence[Sequence[float]], reduce: Callable[..., float]) -> Array:
    """One number an instant, of the parts that are not missing; NaN where all are."""
    told = [np.array(one)[np.isfinite(np.array(one, dtype=np.float64))] for one in values]
    return np.array([reduce(one) if len(one) else np.nan for one in told], dtype=np.float64)


def _share_of_osts(log: ProgramLog, file_system: FileSystem, samples: Sequence[FileSystemSample]) -> Row:
    """Equation 1 of the paper: bytes written to the OSTs that the program's files lie on, of those to all OSTs."""
    used = [place for place, name in enumerate(file_system.osts) if _number(name) in log.osts]
    written = np.nan_to_num(np.array([one.written_bytes_per_s for one in samples], dtype=np.float64))
    total = float(np.sum(written))
    return {"WriteBytesPct": 100.0 * float(np.sum(written[:, used])) / total} if used and total > 0 else {}


def _number(ost: str) -> int | None:
    """The index of an OST, which its name ends in, in hexadecimal: snx11025-OST001f is 31."""
    try:
        return int(ost.rpartition("OST")[2], 16)
    except ValueError:
        return None
