"""Nodes with a full disk, a wrong clock, a broken benchmark, a job that kills whoever does it; and no power."""

from __future__ import annotations

import shutil
import signal
import subprocess
from pathlib import Path
from typing import IO

from tests.faults.fault import Fault
from tests.faults.stage import Size, Stage, Strike
from tests.faults.system import NODES

HOUR_S = 3600
SET_ASIDE = """
    SELECT (t.levels ->> 0)::integer, j.reason,
        (SELECT count(*) FROM job_failures AS f WHERE f.job_id = j.id),
        (SELECT count(DISTINCT f.node_id) FROM job_failures AS f WHERE f.job_id = j.id)
    FROM jobs AS j JOIN settings AS t ON t.id = j.setting_id WHERE j.campaign_id = %s AND j.state = 'set_aside'
"""
STATE = "SELECT state FROM nodes WHERE name = %s"


class _SpoilsNode(Fault):
    """One node fails at everything until it is mended, and an operator lets it back."""

    strikes = 1
    quarantines = True

    def recovery_s(self, stage: Stage, strike: Strike) -> float | None:
        return None

    def await_quarantine(self, stage: Stage, node: str) -> None:
        stage.wait(f"{node} in quarantine", lambda: stage.ledger.try_one(STATE, node) == "quarantined", within_s=60)

    def reinstate(self, stage: Stage, node: str) -> None:
        with stage.system.client() as client:
            client.reinstate(node)


class SpoolDiskFull(_SpoilsNode):
    """The disk with the spool is full: the node fails, and is quarantined; the others go on."""

    name = "disk of the spool full"

    def inject(self, stage: Stage, strike: Strike) -> None:
        strike.node = NODES[-1]
        filler = stage.system.disk / "filler"
        with filler.open("wb", buffering=0) as file:
            while not _is_full(file):
                pass
        self.await_quarantine(stage, strike.node)

    def heal(self, stage: Stage, strike: Strike) -> None:
        (stage.system.disk / "filler").unlink()
        self.reinstate(stage, NODES[-1])


class BenchmarkMissing(_SpoilsNode):
    """The program may not be executed: the node is quarantined."""

    name = "node without its benchmark"

    def inject(self, stage: Stage, strike: Strike) -> None:
        strike.node = stage.any_node()
        stage.system.bench(strike.node).program.chmod(0o644)
        self.await_quarantine(stage, strike.node)

    def heal(self, stage: Stage, strike: Strike) -> None:
        stage.system.bench(str(strike.node)).program.chmod(0o755)
        self.reinstate(stage, str(strike.node))


class BenchmarkBroken(Fault):
    """The program ends with an error: the node's jobs are done by others, and none of them is set aside."""

    name = "node whose benchmark is broken"
    strikes = 1

    def inject(self, stage: Stage, strike: Strike) -> None:
        strike.node = stage.any_node()
        stage.system.bench(strike.node).trap.write_text("exit 3\n")
        stage.hold(10)

    def heal(self, stage: Stage, strike: Strike) -> None:
        stage.system.bench(str(strike.node)).trap.unlink()

    def recovery_s(self, stage: Stage, strike: Strike) -> float | None:
        return None


class Poison(Fault):
    """One setting kills the agent that measures it, each time: its jobs are set aside with their reason, no others."""

    name = "poison job"
    size = Size(steps=50, replicates=40, per_job=20)
    strikes = 1
    kills_parts = True

    def prepare(self, stage: Stage) -> None:
        for node in NODES:
            # The program's parent watches over its group; the agent is one above.
            stage.system.bench(node).trap.write_text(
                f"if [ $1 = {stage.first_step} ]; then read -r _ _ _ agent _ < /proc/$PPID/stat; kill -9 $agent; fi\n"
            )

    def clear(self, stage: Stage) -> None:
        for node in NODES:
            stage.system.bench(node).trap.unlink()

    def missing_steps(self, stage: Stage) -> frozenset[int]:
        return frozenset({stage.first_step})

    def complaints(self, stage: Stage) -> list[str]:
        rows = stage.ledger.ask(SET_ASIDE, stage.campaign)
        as_it_should_be = [
            step == stage.first_step and "died during the job" in reason and attempts == 3 and nodes >= 2
            for step, reason, attempts, nodes in rows
        ]
        return [f"set aside: {rows}"] * (as_it_should_be != [True, True])

    def recovery_s(self, stage: Stage, strike: Strike) -> float | None:
        return None


class ClocksApart(Fault):
    """Two agents restart with clocks an hour ahead and an hour behind; one of them then dies and comes back."""

    name = "clocks an hour apart"

    def prepare(self, stage: Stage) -> None:
        library = skewed_clock(stage.system.folder)
        for node, offset_s in zip(NODES, (HOUR_S, -HOUR_S), strict=False):
            self._restart(stage, node, LD_PRELOAD=str(library), FAULTS_CLOCK_OFFSET_S=str(offset_s))
        stage.system.wait_until_at_work()

    def inject(self, stage: Stage, strike: Strike) -> None:
        strike.node, strike.job = stage.busy_node(of=NODES[:2])
        stage.system.kill(f"agent-{strike.node}", stay_down=False)

    def clear(self, stage: Stage) -> None:
        for node in NODES[:2]:
            self._restart(stage, node, LD_PRELOAD="")
        stage.system.wait_until_at_work()

    def complaints(self, stage: Stage) -> list[str]:
        """Every start of a run lies within its campaign, by the database's clock."""
        outside = stage.ledger.try_one(
            "SELECT count(*) FROM runs AS r JOIN settings AS t ON t.id = r.setting_id JOIN campaigns AS c"
            " ON c.id = t.campaign_id WHERE c.id = %s AND NOT r.started_at BETWEEN c.created_at AND c.ended_at",
            stage.campaign)  # fmt: skip
        return [f"{outside} runs outside the time of their campaign"] * bool(outside)

    def _restart(self, stage: Stage, node: str, **environment: str) -> None:
        stage.system.kill(f"agent-{node}", signal.SIGTERM)
        stage.system.start(f"agent-{node}", **environment)


class PowerLoss(Fault):
    """SIGKILL to everything at once, PostgreSQL and Redis too; then all of it starts again."""

    name = "power loss"

    def inject(self, stage: Stage, strike: Strike) -> None:
        stage.system.kill_all()
        stage.hold(1)

    def heal(self, stage: Stage, strike: Strike) -> None:
        stage.system.start_all()


def skewed_clock(folder: Path) -> Path:
    """A library that shifts what a program takes for the time of day."""
    library = folder / "skewed_clock.so"
    source = Path(__file__).with_name("skewed_clock.c")
    compiler = shutil.which("cc") or "cc"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    return library


def _is_full(file: IO[bytes]) -> bool:
    try:
        file.write(b"\0" * 512)
    except OSError:
        return True
    return False
