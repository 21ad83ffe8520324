"""Reads Darshan logs in a process of its own: a broken log can crash Darshan's C library.

A path a line on standard input; a line of JSON for each on standard output. Started by `darshan_logs`.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

MODULES = ("POSIX", "STDIO")
SMALL = ("0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M")
MIB = 2**20


def main() -> None:
    """Answer until standard input ends."""
    # What the C library prints must not end up among the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        try:
            answer: dict[str, Any] = read(line.rstrip("\n"))
        except Exception as error:  # PyDarshan raises what it likes
            answer = {"error": f"PyDarshan cannot read it: {error or type(error).__name__}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def read(path: str) -> dict[str, Any]:
    """The fields of `ProgramLog` but digest and file name."""
    import darshan.backend.cffi_backend as backend

    log = backend.log_open(path)
    if not log["handle"]:
        raise RuntimeError("not a Darshan log of a version that it knows (3.x)")
    try:
        job = backend.log_get_job(log)
        exe = backend.log_get_exe(log)
        there = backend.log_get_modules(log)
        names = dict(backend.log_get_name_records(log))
        mounts = [mount for mount, _ in backend.log_get_mounts(log)]
        records = {module: list(_records(backend, log, module)) for module in MODULES if module in there}
        stripes = list(_stripes(backend, log)) if "LUSTRE" in there else []
    finally:
        backend.log_close(log)
    uid = str(job["uid"])
    program = Path((exe.split() or ["unknown"])[0]).name
    return {
        "job_id": str(job["jobid"]),
        "program": program,
        "user": uid,
        "started_s": job["start_time_sec"] + job.get("start_time_nsec", 0) / 1e9,
        "runtime_s": float(job.get("run_time") or job["end_time_sec"] - job["start_time_sec"] + 1),
        "processes": int(job["nprocs"]),
        "mount": _mount(records, names, mounts),
        "osts": sorted({ost for stripe in stripes for ost in stripe["osts"]}),
        "features": _features(records, stripes, int(job["nprocs"])),
    }


def _records(backend: Any, log: Any, module: str) -> Iterator[dict[str, float]]:
    counters, times = backend.counter_names(module), backend.fcounter_names(module)
    while (record := backend.log_get_record(log, module, dtype="numpy")) is not None:
        told = {"id": record["id"], "rank": record["rank"]}
        told |= dict(zip(counters, record["counters"].tolist(), strict=True))
        told |= dict(zip(times, record["fcounters"].tolist(), strict=True))
        yield told


def _stripes(backend: Any, log: Any) -> Iterator[dict[str, Any]]:
    """Stripe size, and the OSTs, of every file; Darshan 3.4.5 and later tells components of composite layouts."""
    while (record := backend.log_get_record(log, "LUSTRE", dtype="dict")) is not None:
        for part in record.get("components", [record]):
            counters = part.get("counters", {})
            size = counters.get("LUSTRE_STRIPE_SIZE", counters.get("LUSTRE_COMP_STRIPE_SIZE", 0))
            yield {"size": int(size), "osts": [int(ost) for ost in part.get("ost_ids", ()) if int(ost) >= 0]}


def _mount(records: dict[str, Any], names: dict[int, str], mounts: list[str]) -> str | None:
    """The mount point under which most bytes were read and written."""
    moved: dict[str, float] = {}
    for module, found in records.items():
        for record in found:
            path = names.get(record["id"], "")
            under = [one for one in mounts if path == one or path.startswith(one.rstrip("/") + "/")]
            if under:
                mount = max(under, key=len)
                moved[mount] = moved.get(mount, 0.0) + _moved(module, record)
    return max(moved, key=lambda one: moved[one]) if moved else None


def _moved(module: str, record: dict[str, float]) -> float:
    return max(record[f"{module}_BYTES_READ"], 0) + max(record[f"{module}_BYTES_WRITTEN"], 0)


def _features(records: dict[str, Any], stripes: list[dict[str, Any]], processes: int) -> dict[str, float]:
    """By the names of the paper's Table 1; what the log does not tell is absent."""
    found: dict[str, float] = {"NumProcs": float(processes)}
    osts = {ost for stripe in stripes for ost in stripe["osts"]}
    if osts:
        found |= {"StripeCount": float(len(osts)), "StripeSize": float(max(one["size"] for one in stripes))}
    if records:
        found["NumFile"] = float(len({record["id"] for of_module in records.values() for record in of_module}))
    posix = records.get("POSIX", [])
    if not posix:
        return found

    def total(name: str) -> float:
        return float(sum(max(record[f"POSIX_{name}"], 0) for record in posix))

    found["TotalMetaReq"] = total("OPENS") + total("STATS") + total("FSYNCS") + total("FDSYNCS")
    for direction, plural, size, moved in (("Read", "READS", "READ", "READ"), ("Write", "WRITES", "WRITE", "WRITTEN")):
        requests, small = total(plural), sum(total(f"SIZE_{size}_{one}") for one in SMALL)
        found[f"Total{direction}Req"] = requests
        found[f"{direction}BytesTotal"] = total(f"BYTES_{moved}")
        found[f"{direction}Less1M"] = small
        if requests > 0:
            found[f"Seq{direction}Pct"] = 100 * total(f"SEQ_{plural}") / requests
            found[f"Consec{direction}Pct"] = 100 * total(f"CONSEC_{plural}") / requests
            found[f"{direction}Less1MPct"] = 100 * small / requests
    return found | _throughputs(posix, found)


def _throughputs(posix: list[dict[str, float]], found: dict[str, float]) -> dict[str, float]:
    """MiB/s, by the time of the slowest process: the sum over shared files, and most of what any did by itself."""
    shared = {"all": 0.0, "READ": 0.0, "WRITE": 0.0}
    own: dict[str, dict[float, float]] = {name: {} for name in shared}
    for record in posix:
        parts = {name: max(record[f"POSIX_F_{name}_TIME"], 0.0) for name in ("READ", "WRITE", "META")}
        spent = sum(parts.values())
        slowest = max(record["POSIX_F_SLOWEST_RANK_TIME"], 0.0) if record["rank"] == -1 else spent
        for name in shared:
            share = slowest if name == "all" else slowest * parts[name] / spent if spent > 0 else 0.0
            if record["rank"] == -1:
                shared[name] += share
            else:
                own[name][record["rank"]] = own[name].get(record["rank"], 0.0) + share
    seconds = {name: shared[name] + max(own[name].values(), default=0.0) for name in shared}
    read, written = found["ReadBytesTotal"], found["WriteBytesTotal"]
    rates = {
        "Throughput": (read + written, seconds["all"]),
        "ReadThroughput": (read, seconds["READ"]),
        "WriteThroughput": (written, seconds["WRITE"]),
    }
    return {
        name: moved / MIB / time
        for name, (moved, time) in rates.items()
        if moved > 0 and np.isfinite(time) and time > 0
    }


if __name__ == "__main__":
    main()
