"""Jobs of a table, for prediction: which column says what, and when it is known.

A column that nothing says about is known when the job has ended: it reaches predictions of later jobs only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from analysis.arrays import Array
from analysis.log_prediction.jobs import Jobs, Key, Subject
from orchestrator.contracts.errors import TableError
from orchestrator.job_logs.table import JobTable

READ, WRITE = "read", "write"

TARGETS = ("darshan_agg_perf_by_slowest_posix", "Throughput")
STARTS = ("darshan_start_time", "StartTime")
PROGRAMS = ("darshan_app", "ProgName", "program", "exe", "app")
PARTITIONS = ("Partition", "partition", "slurm_partition", "_partition", "queue")
FILE_SYSTEMS = ("_file_system", "FileSystem", "file_system", "filesystem")
PROCESSES = ("darshan_nprocs", "NumProcs", "nprocs")
DIRECTIONS = ("Direction", "direction")
BYTES = (
    ("darshan_biggest_read_api_bytes", "darshan_biggest_write_api_bytes"),
    ("darshan_tot_bytes_read_posix", "darshan_tot_bytes_written_posix"),
    ("ReadBytesTotal", "WriteBytesTotal"),
)
FILES = {READ: ("darshan_biggest_read_api_files", "NumFile"), WRITE: ("darshan_biggest_write_api_files", "NumFile")}
# What a submission states. All other numbers are known when the job has ended.
SUBMITTED = (*PROCESSES, "NumNodes", "StripeCount", "StripeSize", "Timelimit")
# Of the file system while the job ran, or of other jobs; what else there is, is about the application.
OF_FILE_SYSTEM = ("fs_", "fshealth_", "jobsdb_", "topology_", "mds", "oss", "ost", "WriteBytesPct")
KEY = ("direction", "program", "layout", "partition", "file system")


@dataclass(frozen=True, kw_only=True)
class Columns:
    """What the user says about columns; None: found by name."""

    target: str | None = None
    time: str | None = None
    end: str | None = None
    key: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """Jobs of a table in the order of their start, where each stands in it, and what was left out."""

    jobs: Jobs
    rows: tuple[int, ...]  # 0-based, of the table
    without_time: int
    without_throughput: int


def unit_of(columns: Columns) -> str:
    """Of the throughput: that of the usual columns; of another nobody tells it."""
    return "MiB/s" if columns.target in {None, *TARGETS} else f"{columns.target}"


def jobs_of(table: JobTable, columns: Columns, *, asked: bool = False) -> Chosen:
    """The jobs that can be used; with `asked`, those without a throughput too. Raises TableError."""
    start_s = table.seconds(_named(table, columns.time, STARTS, "--time"))
    end_s = _ends(table, columns, start_s)
    target = _named(table, columns.target, TARGETS, "--target")
    throughput = table.numbers(target)
    throughput = np.where(throughput > 0, throughput, np.nan)
    timed = np.isfinite(start_s) & (np.isfinite(end_s) | (asked & ~np.isfinite(throughput)))
    usable = timed & (np.isfinite(throughput) | asked)
    if not np.any(usable):
        raise TableError(f"{table.path}: no row has a positive number in {target!r} and a start and an end")
    rows = np.flatnonzero(usable)
    rows = rows[np.argsort(start_s[rows], kind="stable")]
    directions, keys, file_systems = _keys(table, columns, target)
    declared = [name for name in SUBMITTED if name in table.columns and name != target]
    measured = _measured(table, columns, target, declared)
    jobs = Jobs(
        start_s=start_s[rows],
        end_s=np.fmax(end_s, start_s)[rows],  # clocks that disagree must not make a job known to itself
        throughput=throughput[rows],
        keys=tuple(keys[row] for row in rows),
        key_names=KEY if columns.key is None else ("direction", *columns.key),
        directions=tuple(directions[row] for row in rows),
        file_systems=tuple(file_systems[row] for row in rows),
        declared_names=tuple(declared),
        declared=_stacked([table.numbers(name) for name in declared], len(table))[rows],
        measured_names=tuple(measured),
        measured_subjects=tuple(
            Subject.FILE_SYSTEM if name.startswith(OF_FILE_SYSTEM) else Subject.APPLICATION for name in measured
        ),
        measured=_stacked(list(measured.values()), len(table))[rows],
    )
    return Chosen(
        jobs=jobs,
        rows=tuple(int(row) for row in rows),
        without_time=int(np.count_nonzero(~timed)),
        without_throughput=int(np.count_nonzero(timed & ~usable)),
    )


def _named(table: JobTable, wanted: str | None, usual: Sequence[str], option: str) -> str:
    name = wanted or table.first_of(usual)
    if name is None:
        raise TableError(f"{table.path}: none of the columns {', '.join(usual)} is there: name one with {option}")
    table.text(name)  # raises where there is no such column
    return name


def _ends(table: JobTable, columns: Columns, start_s: Array) -> Array:
    """The ends of the jobs: a job teaches nothing before it has ended."""
    if columns.end is not None:
        return table.seconds(columns.end)
    time = columns.time or table.first_of(STARTS) or ""
    named = table.first_of([time.replace("start", "end").replace("Start", "End")])
    if named is not None and named != time:
        return table.seconds(named)
    runtime = table.first_of(("darshan_walltime", "RunTime", "walltime", "runtime", "elapsed", "Elapsed"))
    if runtime is None:
        raise TableError(f"{table.path}: no column tells when a job ended: name one with --end")
    return start_s + table.numbers(runtime)


def _keys(table: JobTable, columns: Columns, target: str) -> tuple[list[str], list[Key], list[str]]:
    directions = _directions(table, target)
    named = table.first_of(FILE_SYSTEMS)
    file_systems = list(table.text(named)) if named else ["unknown"] * len(table)
    file_systems = [name.strip() or "unknown" for name in file_systems]
    if columns.key is not None:
        parts = [table.text(name) for name in columns.key]
        return directions, [(d, *rest) for d, *rest in zip(directions, *parts, strict=True)], file_systems
    program_column = table.first_of(PROGRAMS)
    if program_column is None:
        raise TableError(f"{table.path}: no column names the program: name the columns of the key with --key")
    programs = [cell.strip().rsplit("/", 1)[-1] for cell in table.text(program_column)]
    layouts, partitions = _layouts(table, directions), _partitions(table)
    return directions, list(zip(directions, programs, layouts, partitions, file_systems, strict=True)), file_systems


def _directions(table: JobTable, target: str) -> list[str]:
    """What a job does most: it is asked to read, or to write."""
    named = table.first_of(DIRECTIONS)
    if named is not None:
        return [WRITE if cell.strip().lower().startswith("w") else READ for cell in table.text(named)]
    for read, written in BYTES:
        if read in table.columns and written in table.columns:
            more = np.nan_to_num(table.numbers(written)) > np.nan_to_num(table.numbers(read))
            return [WRITE if one else READ for one in more]
    if "read" in target.lower():
        return [READ] * len(table)
    if "write" in target.lower():
        return [WRITE] * len(table)
    raise TableError(f"{table.path}: no column tells reads from writes: add one named Direction")


def _layouts(table: JobTable, directions: list[str]) -> list[str]:
    """One shared file, or about one per process."""
    processes = table.first_of(PROCESSES)
    if processes is None:
        return [""] * len(table)
    count = table.numbers(processes)
    files = {}
    for direction, names in FILES.items():
        named = table.first_of(names)
        files[direction] = table.numbers(named) if named else np.full(len(table), np.nan)
    found = []
    for place, direction in enumerate(directions):
        number = files[direction][place]
        found.append("" if not isfinite(number) else "per process" if number > max(count[place] / 2, 1) else "shared")
    return found


def _partitions(table: JobTable) -> list[str]:
    """The scheduler's partition. Where it is not told the process count stands for it: node types differ in it."""
    named = table.first_of(PARTITIONS)
    if named is not None:
        return [cell.strip() for cell in table.text(named)]
    processes = table.first_of(PROCESSES)
    return [""] * len(table) if processes is None else [f"{cell.strip()} processes" for cell in table.text(processes)]


def _measured(table: JobTable, columns: Columns, target: str, declared: Sequence[str]) -> dict[str, Array]:
    """Everything else that is a number, but times of day and identifiers: they grow, and mean nothing later."""
    left_out = {target, columns.time, columns.end, *declared, *(columns.key or ())}
    return {name: values for name, values in table.numeric().items() if name not in left_out and not _identifies(name)}


def _identifies(name: str) -> bool:
    lower = name.lower()
    ends = ("jobid", "_time", "starttime", "endtime", "timestamp", "_id", "datetime_start", "datetime_end")
    return lower.endswith(ends) and not lower.endswith(("io_time", "f_meta_time", "f_read_time", "f_write_time"))


def _stacked(columns: list[Array], rows: int) -> Array:
    return np.column_stack(columns) if columns else np.empty((rows, 0))
