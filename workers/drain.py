"""Empty nodes: no more work for them, and a wait until each has ended the job it holds."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from orchestrator.contracts.errors import NotFoundError
from orchestrator.store.ports import Nodes

POLL_S = 1.0
REMIND_EVERY_S = 30.0
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Drained:
    """What became of the nodes."""

    empty: tuple[str, ...]
    at_work: Mapping[str, int]
    """Node -> the job that it still held when the time was over."""
    unknown: Mapping[str, str]
    """Node -> why it could not be drained."""


def drain(nodes: Nodes, names: Sequence[str], *, timeout_s: float, say: Say) -> Drained:
    """Give these nodes no more work, and wait until they hold none, for at most `timeout_s`."""
    unknown = {}
    for name in names:
        try:
            nodes.drain(name)
        except NotFoundError as problem:
            unknown[name] = str(problem)
    at_work = _wait(nodes, set(names) - set(unknown), timeout_s=timeout_s, say=say)
    empty = tuple(name for name in names if name not in unknown and name not in at_work)
    return Drained(empty=empty, at_work=at_work, unknown=unknown)


def held_jobs(nodes: Nodes, names: Collection[str]) -> dict[str, int]:
    """Node -> the job it holds, for those that hold one."""
    return {node.name: node.job_id for node in nodes.all() if node.name in names and node.job_id is not None}


def _wait(nodes: Nodes, names: Collection[str], *, timeout_s: float, say: Say) -> dict[str, int]:
    """Who still holds a job when nobody does, or the time is over; who is waited for is said when it changes."""
    began, remind_at_s = time.monotonic(), 0.0
    said: dict[str, int] = {}
    while True:
        held = held_jobs(nodes, names)
        waited_s = time.monotonic() - began
        if held and (held != said or waited_s >= remind_at_s):
            at_work = ", ".join(f"{name} is at job {job}" for name, job in held.items())
            say(f"[{len(names) - len(held)}/{len(names)} empty, {waited_s:.0f} s] {at_work}")
            said, remind_at_s = held, waited_s + REMIND_EVERY_S
        if not held or waited_s >= timeout_s:
            return held
        time.sleep(min(POLL_S, timeout_s - waited_s))
