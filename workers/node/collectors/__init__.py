"""What a study may have counted around a run. What a machine has not is absent; a collector never fails a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from orchestrator.contracts.preparation import Collector
from workers.node.collectors.perf import Perf
from workers.node.collectors.power import Power
from workers.node.collectors.proc import Proc
from workers.node.collectors.rapl import Rapl
from workers.node.collectors.trimmed import SinceTrim, Use
from workers.node.settings.steps import Facts


class Counting(Protocol):
    """One collector."""

    def begin(self) -> None:
        """Right before a run."""

    def end(self) -> Mapping[str, object]:
        """Right after it: what was counted; empty where nothing can be."""

    def close(self) -> None:
        """At the end of the job, or of a run that was stopped."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Counted:
    """What collectors look at."""

    root: Path
    facts: Facts
    use: Use | None
    forked_from: Callable[[], Sequence[int]]
    """The processes that benchmarks are forked from."""


def chosen(names: tuple[Collector, ...], counted: Counted) -> dict[str, Counting]:
    """The collectors that a study asks for, by name."""
    return {str(name): _one(name, counted) for name in names}


def _one(name: Collector, counted: Counted) -> Counting:
    match name:
        case Collector.PROC:
            return Proc(counted.root, counted.facts.device)
        case Collector.RAPL:
            return Rapl(counted.root)
        case Collector.PERF:
            return Perf(counted.forked_from)
        case Collector.PERF_ROTATE:
            return Perf(counted.forked_from, rotate=True)
        case Collector.POWER:
            return Power(counted.root)
        case Collector.TRIM:
            return SinceTrim(counted.use)
