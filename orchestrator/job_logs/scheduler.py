"""Jobs from Slurm's accounting: text of `sacct` with any separator, or JSON.

Steps (`17.batch`, `17.0`) belong to their job: they tell how many tasks it had, and when it ran where the job itself is
not listed.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

from orchestrator.contracts.errors import TableError
from orchestrator.contracts.job_logs import ScheduledJob

# What a dump without a header holds, if it has as many columns and nobody says otherwise.
LONG = (
    "JobID", "JobName", "User", "Partition", "NodeList", "NNodes", "NCPUs", "NTasks", "State", "Submit", "Start",
    "End", "Timelimit", "Elapsed", "TotalCPU", "CPUTime", "UserCPU", "SystemCPU", "ReqMem", "MaxRSS", "MaxVMSize",
    "ReqTRES", "AllocTRES", "TRESUsageInMax", "TRESUsageInTot", "TRESUsageOutTot", "MaxDiskRead", "MaxDiskWrite",
    "MaxRSSNode", "MaxRSSTask", "MaxVMSizeNode", "MaxVMSizeTask", "MaxDiskReadNode", "MaxDiskReadTask",
    "MaxDiskWriteNode", "MaxDiskWriteTask", "Comment",
)  # fmt: skip
WITHIN_CELLS = frozenset(" -_:.=/+[]()%@*#\"'<>~^&!?\\{}$`")
NOT_TOLD = frozenset({"", "unknown", "none", "none assigned", "invalid", "n/a", "partition_limit", "unlimited"})
DURATION = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)(?:\.\d+)?")

Cells = Mapping[str, str]


def read_scheduled_jobs(path: Path, *, zone: tzinfo, names: Sequence[str] | None = None) -> list[ScheduledJob]:
    """The jobs of a dump; times without an offset are of `zone`. Raises TableError."""
    try:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        content = raw.decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise TableError(f"{path}: cannot be read as text: {error}") from error
    if content.lstrip()[:1] in {"{", "["}:
        return _of_json(path, content, zone)
    rows = _rows(path, content, names)
    return _merged(_of_cells(path, number, cells, zone) for number, cells in rows)


def separator(lines: Sequence[str]) -> str | None:
    """The character that stands equally often, and most often, in most lines; None where there is none."""
    counts: Counter[tuple[str, int]] = Counter()
    for line in lines:
        there = Counter(one for one in line if not one.isalnum() and one not in WITHIN_CELLS)
        counts.update(there.items())
    likely = [(lines_, count, one) for (one, count), lines_ in counts.items() if 2 * lines_ > len(lines)]
    # A comma separates host names and TRES too: it counts only where nothing else would do.
    return max(likely, key=lambda found: (found[2] != ",", found[0], found[1]))[2] if likely else None


def _rows(path: Path, content: str, names: Sequence[str] | None) -> list[tuple[int, Cells]]:
    # `splitlines` would also split at characters that serve as separators.
    lines = [(number, line) for number, line in enumerate(content.split("\n"), start=1) if line.strip()]
    found = separator([line for _, line in lines[:200]])
    if not lines or found is None:
        raise TableError(f"{path}: no separator is found: use `sacct --parsable2`, or JSON")
    cells = [(number, [cell.strip() for cell in line.split(found)]) for number, line in lines]
    first = cells[0][1]
    if any(cell.lower() in {"jobid", "jobidraw"} for cell in first):
        names, cells = first, cells[1:]
    elif names is None and len(first) in {len(LONG), len(LONG) + 1}:
        names = LONG
    if names is None:
        raise TableError(f"{path}: row 1 names no column JobID: say what the {len(first)} columns are: --slurm-fields")
    wanted = [name.lower() for name in names]
    return [(number, dict(zip(wanted, row, strict=False))) for number, row in cells]


def _of_cells(path: Path, number: int, cells: Cells, zone: tzinfo) -> ScheduledJob:
    identity = cells.get("jobid") or cells.get("jobidraw") or ""
    if not identity:
        raise TableError(f"{path}: row {number}: there is no JobID")

    def told(*names: str) -> str | None:
        return next((cells[name] for name in names if cells.get(name, "").lower() not in NOT_TOLD), None)

    def instant(name: str) -> float | None:
        return _instant(path, number, told(name), zone)

    return ScheduledJob(
        job_id=identity,
        name=told("jobname"),
        user=told("user"),
        group=told("group", "account"),
        partition=told("partition"),
        state=(told("state") or "").split(" ")[0] or None,
        submitted_s=instant("submit"),
        started_s=instant("start"),
        ended_s=instant("end"),
        processes=_count(told("ntasks")),
        nodes=_count(told("nnodes", "allocnodes")),
        time_limit_s=_duration(told("timelimit")),
    )


def _merged(found: Iterable[ScheduledJob]) -> list[ScheduledJob]:
    """Steps put to their jobs, by job id in the order of the dump."""
    jobs: dict[str, ScheduledJob] = {}
    for one in found:
        job_id, _, step = one.job_id.partition(".")
        known = jobs.get(job_id)
        if known is None:
            jobs[job_id] = replace(one, job_id=job_id, name=None if step else one.name)
        elif step:
            jobs[job_id] = _with_step(known, one)
        else:
            told = {f.name: getattr(one, f.name) for f in fields(one) if getattr(one, f.name) is not None}
            jobs[job_id] = replace(known, **told)
    return list(jobs.values())


def _with_step(job: ScheduledJob, step: ScheduledJob) -> ScheduledJob:
    starts = [at for at in (job.started_s, step.started_s) if at is not None]
    ends = [at for at in (job.ended_s, step.ended_s) if at is not None]
    return replace(
        job,
        processes=max(job.processes or 0, step.processes or 0) or None,
        started_s=min(starts, default=None),
        ended_s=max(ends, default=None),
    )


def _of_json(path: Path, content: str, zone: tzinfo) -> list[ScheduledJob]:
    """`sacct --json` of Slurm 21.08 and later; or {job id: {start, end, ...}} as pytokio keeps it."""
    try:
        document = json.loads(content)
        if isinstance(document, dict) and isinstance(document.get("jobs"), list):
            return [_of_sacct(one) for one in document["jobs"]]
        if isinstance(document, dict):
            rows = ({"jobid": name, **_as_cells(one)} for name, one in document.items())
            return _merged(_of_cells(path, 1, cells, zone) for cells in rows)
    except (ValueError, AttributeError, TypeError, KeyError) as error:
        raise TableError(f"{path}: not the JSON of `sacct --json`: {error}") from error
    raise TableError(f"{path}: not the JSON of `sacct --json`: there is no list named jobs")


def _as_cells(told: Mapping[str, Any]) -> dict[str, str]:
    cells = {name.lower(): one for name, one in told.items() if isinstance(one, str)}
    nodes = told.get("nodelist")
    return {**cells, **({"nnodes": str(len(nodes))} if isinstance(nodes, list) else {})}


def _of_sacct(one: Mapping[str, Any]) -> ScheduledJob:
    time, state = one.get("time") or {}, one.get("state") or {}
    current = state.get("current") if isinstance(state, dict) else state
    counts = {each.get("type"): each.get("count") for each in (one.get("tres") or {}).get("allocated") or ()}
    tasks = [((step.get("tasks") or {}).get("count")) for step in one.get("steps") or ()]
    return ScheduledJob(
        job_id=str(one["job_id"]),
        name=one.get("name") or None,
        user=one.get("user") or (one.get("association") or {}).get("user") or None,
        group=one.get("group") or one.get("account") or None,
        partition=one.get("partition") or None,
        state=current[0] if isinstance(current, list) and current else current or None,
        submitted_s=_positive(time.get("submission")),
        started_s=_positive(time.get("start")),
        ended_s=_positive(time.get("end")),
        processes=max((task for task in tasks if task), default=None),
        nodes=counts.get("node"),
        time_limit_s=None if (limit := _positive(time.get("limit"))) is None else 60 * limit,
    )


def _positive(value: Any) -> float | None:
    """A number, or {"set": true, "number": n} of later versions; Slurm's 0 is `not yet`."""
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") else None
    return float(value) if value else None


def _instant(path: Path, number: int, cell: str | None, zone: tzinfo) -> float | None:
    if cell is None:
        return None
    try:
        told = datetime.fromisoformat(cell)
    except ValueError:
        if cell.replace(".", "", 1).isdigit():
            return float(cell)
        raise TableError(f"{path}: row {number}: {cell!r} is not a time") from None
    return (told if told.tzinfo else told.replace(tzinfo=zone)).timestamp()


def _count(cell: str | None) -> int | None:
    return int(cell) if cell is not None and cell.isdigit() and int(cell) > 0 else None


def _duration(cell: str | None) -> float | None:
    match = DURATION.fullmatch(cell or "")
    if match is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
