"""Agents die, stand still, and come home late."""

from __future__ import annotations

import json
import signal
import uuid
from pathlib import Path

from tests.faults.fault import ELSEWHERE_S, Fault, elsewhere_s
from tests.faults.program import TIMEOUT_S
from tests.faults.stage import Stage, Strike

IS_ELSEWHERE = (
    "SELECT j.state = 'done' OR j.state = 'leased' AND n.name <> %s"
    " FROM jobs AS j LEFT JOIN nodes AS n ON n.id = j.node_id WHERE j.id = %s"
)
IS_OVER = "SELECT state = 'done' FROM jobs WHERE id = %s"
LONGER_THAN_A_LEASE_S = TIMEOUT_S + 15 + 10


class _StrikesAgent(Fault):
    within_s: float | None = ELSEWHERE_S

    def recovery_s(self, stage: Stage, strike: Strike) -> float | None:
        return elsewhere_s(stage, strike)


class AgentKilled(_StrikesAgent):
    """SIGKILL; it comes back when its job runs elsewhere."""

    name = "agent killed"

    def inject(self, stage: Stage, strike: Strike) -> None:
        strike.node, strike.job = stage.busy_node()
        stage.system.kill(f"agent-{strike.node}")

    def heal(self, stage: Stage, strike: Strike) -> None:
        stage.wait(f"job {strike.job} elsewhere", lambda: stage.ledger.try_one(IS_ELSEWHERE, strike.node, strike.job))
        stage.system.start(f"agent-{strike.node}")


class AgentKilledAndBack(Fault):
    """SIGKILL, and started again at once: it resumes what it held."""

    name = "agent killed, back at once"
    strikes = 3

    def inject(self, stage: Stage, strike: Strike) -> None:
        strike.node, strike.job = stage.busy_node()
        stage.system.kill(f"agent-{strike.node}", stay_down=False)


class AgentFrozen(_StrikesAgent):
    """SIGSTOP for longer than its lease lasts, then SIGCONT: what it did is given to another meanwhile."""

    name = "agent frozen"

    def inject(self, stage: Stage, strike: Strike) -> None:
        strike.node, strike.job = stage.busy_node()
        stage.system.tell(f"agent-{strike.node}", signal.SIGSTOP)
        stage.hold(LONGER_THAN_A_LEASE_S)

    def heal(self, stage: Stage, strike: Strike) -> None:
        stage.system.tell(f"agent-{strike.node}", signal.SIGCONT)


class LateSpool(_StrikesAgent):
    """It dies with runs in its spool, and returns when another node has done the job: all of them are superseded."""

    name = "spool of a job given away"
    strikes = 1

    def inject(self, stage: Stage, strike: Strike) -> None:
        stage.wait("runs in a spool", lambda: self._struck(stage, strike))
        stage.wait("the job done elsewhere", lambda: stage.ledger.try_one(IS_OVER, strike.job))

    def heal(self, stage: Stage, strike: Strike) -> None:
        stage.system.start(f"agent-{strike.node}")

    def complaints(self, stage: Stage) -> list[str]:
        ids = [run["id"] for run in _runs(stage.notes["spool"]) if run["job_id"] == stage.strikes[0].job]
        rows = stage.ledger.ask("SELECT validity FROM runs WHERE id = ANY (%s::uuid[])", ids)
        if len(rows) == len(ids) > 0 and {validity for (validity,) in rows} == {"superseded"}:
            return []
        return [f"of {len(ids)} runs that came home late, the ledger has {len(rows)}: {set(rows)}"]

    def _struck(self, stage: Stage, strike: Strike) -> bool:
        """Freeze it, and look: kill it when it has some runs that nobody else has, and is not near the end."""
        strike.node, strike.job = stage.busy_node()
        agent = f"agent-{strike.node}"
        stage.system.tell(agent, signal.SIGSTOP)
        spool = stage.system.spool(strike.node).read_text()
        unsent = [run for run in _runs(spool) if run["job_id"] == strike.job]
        if 3 <= len(unsent) <= stage.size.per_job - 3:
            stage.system.kill(agent)
            stage.notes["spool"] = stage.system.spool(strike.node).read_text()
            return True
        stage.system.tell(agent, signal.SIGCONT)
        return False


class ForeignSpool(Fault):
    """A node comes back with a spool that names another ledger: it is kept aside, nothing of it comes in."""

    name = "spool of another ledger"
    strikes = 1

    def inject(self, stage: Stage, strike: Strike) -> None:
        strike.node, _ = stage.busy_node()
        stage.system.kill(f"agent-{strike.node}")
        spool = stage.system.spool(strike.node)
        stage.wait("a spool with runs", lambda: self._borrowed(stage))
        foreign = [dict(run, id=str(uuid.uuid4())) for run in _runs(stage.notes["spool"])]
        lines = [{"ledger": str(uuid.uuid4())}, *foreign]
        spool.write_text("".join(json.dumps(line) + "\n" for line in lines))
        stage.notes["foreign"] = [run["id"] for run in foreign]

    def heal(self, stage: Stage, strike: Strike) -> None:
        stage.system.start(f"agent-{strike.node}")

    def clear(self, stage: Stage) -> None:
        for kept in self._kept(stage):
            kept.unlink()

    def complaints(self, stage: Stage) -> list[str]:
        taken = stage.ledger.ask("SELECT id FROM runs WHERE id = ANY (%s::uuid[])", stage.notes["foreign"])
        kept = [kept.read_text().count("\n") - 1 for kept in self._kept(stage)]
        expected = [len(stage.notes["foreign"])]
        return [f"{len(taken)} foreign runs taken in"] * bool(taken) + [f"kept aside: {kept}"] * (kept != expected)

    def _borrowed(self, stage: Stage) -> bool:
        """Runs as another agent writes them."""
        node, _ = stage.busy_node()
        stage.notes["spool"] = stage.system.spool(node).read_text()
        return bool(_runs(stage.notes["spool"]))

    def _kept(self, stage: Stage) -> list[Path]:
        return list(stage.system.spool(str(stage.strikes[0].node)).parent.glob("spool-*.jsonl"))


def _runs(spool: object) -> list[dict[str, object]]:
    """The runs of a spool; a torn last line is none."""
    lines = [json.loads(line) for line in str(spool).splitlines(keepends=True) if line.endswith("\n")]
    return [line for line in lines if "ledger" not in line]
