"""Checks of Redis and of this machine's disk."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from redis import RedisError

from orchestrator.doctor import hints
from orchestrator.doctor.findings import Finding
from orchestrator.store.postgres.inspection import Inspection

LEAST_FREE_BYTES = 1_000_000_000
LEAST_FREE_SHARE = 0.05


def queue(redis_url: str, ledger: Inspection | None) -> Iterator[Finding]:
    """Does Redis answer, and does it hint at what the ledger has offered?"""
    if not redis_url:
        yield Finding(part="redis", seen="its address is not known", do="set MODESCOPE_REDIS_URL, or give --home")
        return
    try:
        found = hints.read(redis_url)
    except (RedisError, OSError) as error:
        yield Finding(part="redis", seen=f"does not answer: {error}", do="start it; nothing is lost while it is away")
        return
    yield Finding(part="redis", seen="answers")
    if ledger is not None:
        yield _against(found, ledger)


def _against(found: hints.Hints, ledger: Inspection) -> Finding:
    total = sum(len(jobs) for jobs in found.waiting.values())
    stale = [job for node, jobs in found.waiting.items() for job in jobs if ledger.offers.get(job) != node]
    if stale:
        listed = ", ".join(map(str, stale[:5]))
        seen = f"{len(stale)} of {total} messages are about jobs that are not offered there (jobs {listed})"
        return Finding(
            part="queue",
            seen=seen,
            do="nothing is lost: an agent drops them; for a node that is gone, delete its queue",
        )
    if found.unacknowledged:
        seen = f"{found.unacknowledged} messages taken and not acknowledged"
        return Finding(part="queue", seen=seen, do="look again; if they stay, a worker hangs: read its log, restart it")
    return Finding(part="queue", seen=f"{total} messages wait, none astray")


def disk(home: Path) -> Finding:
    """Room where spools and logs grow."""
    there = next(folder for folder in (home, *home.parents) if folder.exists())
    usage = shutil.disk_usage(there)
    seen = f"{usage.free / 1e9:.1f} GB free of {usage.total / 1e9:.0f} GB at {there}"
    if usage.free > min(LEAST_FREE_BYTES, LEAST_FREE_SHARE * usage.total):
        return Finding(part="disk", seen=seen)
    return Finding(part="disk", seen=seen, do="make room: agents keep their runs here")


def spools(home: Path) -> Iterator[Finding]:
    """Runs that did not come home, of the nodes whose state is on this machine."""
    for folder in sorted((home / "nodes").glob("*")):
        for foreign in sorted(folder.glob("spool-*.jsonl")):
            do = "start the agent once with the database it names; remove the file when its runs are not wanted"
            yield Finding(part=f"spool {folder.name}", seen=f"{foreign}: runs of another ledger", do=do)
        refused = folder / "refused.jsonl"
        if refused.exists():
            do = "look why in the agent's log; remove the file when its runs are not wanted"
            yield Finding(part=f"spool {folder.name}", seen=f"{refused}: {_lines(refused)} runs were refused", do=do)


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)
