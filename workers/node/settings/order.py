"""The one order in which a node is set, and why each thing stands where it stands. Restoring goes backwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from workers.node.settings import cpu, disk
from workers.node.settings.steps import Facts, Planned, Wanted


@dataclass(frozen=True, kw_only=True, slots=True)
class Tuning:
    """One thing that can be set."""

    name: str
    plan: Callable[[Facts, Wanted], Iterator[Planned]]
    why_here: str


ORDER = (
    Tuning(name="smt", plan=cpu.smt, why_here="it brings CPUs or takes them away, and what follows is set per CPU"),
    Tuning(name="turbo", plan=cpu.turbo, why_here="it moves the highest frequency that a CPU offers"),
    Tuning(name="governor", plan=cpu.governor, why_here="a new governor may bring its own bounds"),
    Tuning(name="frequency", plan=cpu.frequency, why_here="after everything that moves its bounds"),
    Tuning(name="max_wake_us", plan=cpu.wake_limit, why_here="awake CPUs only from here on: what follows is quicker"),
    Tuning(name="queue_scheduler", plan=disk.queue_scheduler, why_here="a switch drains the queue: before the disk"),
    Tuning(name="sync", plan=disk.sync, why_here="TRIM reaches only blocks whose release has been written"),
    Tuning(name="trim", plan=disk.trim, why_here="it reads file-system metadata, which then leaves the cache too"),
    Tuning(name="drop_caches", plan=disk.drop_caches, why_here="last, so that nothing fills them again"),
)


def plan(facts: Facts, wanted: Wanted) -> tuple[Planned, ...]:
    """Everything that would be done, or why nothing is."""
    return tuple(step for tuning in ORDER for step in tuning.plan(facts, wanted))
