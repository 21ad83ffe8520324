"""The benchmark's own processes die and stand still."""

from __future__ import annotations

import signal

from tests.faults import processes
from tests.faults.fault import Fault
from tests.faults.program import TIMEOUT_S
from tests.faults.stage import Stage, Strike


class _StrikesBenchmark(Fault):
    """The program of one node is slowed down, so that it can be caught."""

    def caught(self, stage: Stage, strike: Strike) -> list[int]:
        """Every process of a run in flight: the one that watches over it, the program, and what it started."""
        strike.node, strike.job = stage.busy_node()
        trap = stage.system.bench(strike.node).trap
        trap.write_text("sleep 1\n")
        agent = stage.system.pid(f"agent-{strike.node}")
        stage.wait("a program at work", lambda: len(processes.descendants(agent)) >= 3)
        trap.unlink()
        return processes.descendants(agent)


class BenchmarkKilled(_StrikesBenchmark):
    """SIGKILL to one of its processes, whichever: the run is invalid, or was not harmed; the next try counts."""

    name = "benchmark killed"
    strikes = 4

    def inject(self, stage: Stage, strike: Strike) -> None:
        processes.tell([stage.rng.choice(self.caught(stage, strike))], signal.SIGKILL)


class BenchmarkFrozen(_StrikesBenchmark):
    """SIGSTOP, for less or for more than the run may take: it goes on, or is ended whole."""

    name = "benchmark frozen"

    def inject(self, stage: Stage, strike: Strike) -> None:
        stage.notes["frozen"] = caught = self.caught(stage, strike)
        processes.tell(caught, signal.SIGSTOP)
        stage.hold(stage.rng.choice([TIMEOUT_S / 2, TIMEOUT_S * 2]))

    def heal(self, stage: Stage, strike: Strike) -> None:
        processes.tell(list(stage.notes["frozen"]), signal.SIGCONT)
