"""What benchmarks printed elsewhere, for `modescope import` (entry points `modescope.result_readers`)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from orchestrator.contracts.errors import OutputError
from orchestrator.contracts.results import Result
from workers.benchmarks import iozone_auto, iozone_text
from workers.benchmarks.iozone_text import Measured

_BEGAN = re.compile(r"^\s*Run began:\s*(\S.*?)\s*$", re.MULTILINE)
_SIZE = re.compile(r"(\d+)\s*([kmgt]?)(?:i?b)?", re.IGNORECASE)
_KB_OF = {"": 1 / 1024, "k": 1, "m": 1024, "g": 1024**2, "t": 1024**3}
FIO_MODES: Mapping[tuple[str, str], str] = {
    ("write", "write"): "initial_writers",
    ("read", "read"): "readers",
    ("randread", "read"): "random_readers",
    ("randwrite", "write"): "random_writers",
}
"""fio's pattern and direction -> mode; other patterns keep fio's name."""


def iozone(text: str) -> list[Result]:
    """What IOzone 3.x printed in throughput mode or in auto mode; a mode again is another invocation."""
    measured = iozone_auto.parse(text) if iozone_auto.is_auto(text) else iozone_text.parse(text)
    invocations: list[dict[str, Measured]] = [{}]
    for one in measured:
        held = invocations[-1]
        if one.mode in held or (held and _sizes(next(iter(held.values()))) != _sizes(one)):
            invocations.append({})
        invocations[-1][one.mode] = one
    began_at = _began_at(text)
    return [
        Result(
            levels=_sizes(next(iter(modes.values()))),
            values={mode: one.throughput_kbps for mode, one in modes.items()},
            started_at=began_at,
        )
        for modes in invocations
        if modes
    ]


def fio(text: str) -> list[Result]:
    """fio's JSON (`--output-format=json`), a result a job name, by the bandwidth that fio itself tells."""
    try:
        said, _ = json.JSONDecoder().raw_decode(text, text.index("{"))
        jobs_of: dict[str, list[Mapping[str, Any]]] = {}
        for job in said["jobs"]:
            jobs_of.setdefault(str(job["jobname"]), []).append(job)
        ended_at = float(said["timestamp"]) if "timestamp" in said else None
        return [_of_jobs(jobs, dict(said.get("global options", {})), ended_at) for jobs in jobs_of.values()]
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as problem:
        raise OutputError("not a whole JSON output of fio 3.x") from problem


def _sizes(one: Measured) -> dict[str, int | float | str]:
    return {"threads": one.threads, "file_size_kb": one.file_size_kb, "record_size_kb": one.record_size_kb}


def _began_at(text: str) -> float | None:
    """By the machine's own clock, in a zone that IOzone does not tell: read as UTC, good for the order."""
    found = _BEGAN.search(text)
    try:
        return (
            None
            if found is None
            else datetime.strptime(found[1], "%a %b %d %H:%M:%S %Y").replace(tzinfo=UTC).timestamp()
        )
    except ValueError:
        return None


def _of_jobs(jobs: Sequence[Mapping[str, Any]], shared: Mapping[str, Any], ended_at: float | None) -> Result:
    options = {**shared, **jobs[0].get("job options", {})}
    pattern = str(options.get("rw", options.get("readwrite", "read")))
    elapsed_s = max(float(job.get("elapsed", 0)) for job in jobs)
    directions = [name for name in ("read", "write") if any(job[name]["io_bytes"] for job in jobs)]
    return Result(
        levels={
            "threads": int(options.get("numjobs", len(jobs))),
            "file_size_kb": _kb(options["size"]),
            "record_size_kb": _kb(options.get("bs", "4k")),
        },
        values={
            FIO_MODES.get((pattern, name), f"{pattern}_{name}s"): sum(float(job[name]["bw_bytes"]) for job in jobs)
            / 1024
            for name in directions
        },
        started_at=None if ended_at is None else ended_at - elapsed_s,
        elapsed_s=elapsed_s,
    )


def _kb(told: object) -> int | float:
    """`64k`, `4m`, `1g`, `4096` (bytes): in kB of 1,024 bytes."""
    found = _SIZE.fullmatch(str(told).strip())
    if found is None:
        raise ValueError(f"{told!r} is no size")
    kb = int(found[1]) * _KB_OF[found[2].lower()]
    return int(kb) if float(kb).is_integer() else kb
