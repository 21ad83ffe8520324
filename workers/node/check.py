"""What stands in the way of measuring well on this machine: found before a campaign, in words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from orchestrator.contracts.preparation import Preparation
from workers.node import abilities
from workers.node.facts import filesystem, kernel_log, load, memory, processor, tunable
from workers.node.facts.tunable import Tunable
from workers.node.inventory import DEFAULT_TARGET, Inventory

BUSY = 0.2
"""A load average of this part of the CPUs is not silence."""


def findings(home: Path, inventory: Inventory, preparation: Preparation, root: Path = Path("/")) -> list[str]:
    """One line each; empty: nothing found."""
    target = inventory.targets[DEFAULT_TARGET]
    raw = inventory.raw(DEFAULT_TARGET)
    facts = tunable.read(root, target, raw)
    refusals = abilities.shortfalls(preparation, root, target, raw)
    cannot = [f"{reason}; `node: {{{remedy}}}` runs the study all the same" for reason, remedy in refusals]
    return [*cannot, *_disk(home, target, inventory, facts, root), *_machine(facts, root)]


def _disk(home: Path, target: Path, inventory: Inventory, facts: Tunable, root: Path) -> Iterator[str]:
    beside = filesystem.read(root, home)
    if not target.is_dir():
        yield f"target folder {target} is missing; make it, or name another one in {home / 'inventory.yaml'}"
    if facts.mount is None:
        return
    if beside is not None and beside.device == facts.mount.device:
        yield f"the spool in {home} is on the target's device: what is kept of one run disturbs the next"
    if facts.mount.in_memory:
        yield f"target folder {target} is in memory ({facts.mount.kind}): no disk is measured"
    free_kb = filesystem.free_kb(target)
    if free_kb is not None and free_kb < inventory.reserve_kb:
        yield f"target folder {target} has {free_kb} kB free, less than the {inventory.reserve_kb} kB kept in reserve"


def _machine(facts: Tunable, root: Path) -> Iterator[str]:
    cpu, average, main_memory = processor.read(root), load.average(root), memory.read(root)
    if not facts.scalings:
        yield "no cpufreq: the CPU frequency can neither be set nor observed here"
    if any(switch.on for switch in facts.turbo):
        yield "turbo is on: the frequency depends on temperature and on the neighbouring cores; write `turbo: off`"
    if len({scaling.governor for scaling in facts.scalings}) > 1:
        yield "governors differ between CPUs; write `governor:`"
    if cpu is not None and average is not None and average[0] > BUSY * cpu.cpus:
        busiest = ", ".join(found.name for found in load.top(root, count=3))
        yield f"the load is {average[0]:g} on {cpu.cpus} CPUs; most CPU time was used by {busiest or 'nobody'}"
    if main_memory is not None and main_memory.swap_kb and main_memory.swap_free_kb != main_memory.swap_kb:
        yield "swap is in use: memory may be waited for"
    if not kernel_log.readable(root):
        yield "the kernel's log cannot be read: its errors will not make runs invalid"
