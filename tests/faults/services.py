"""Controllers, the interface and the analysis worker die and stand still."""

from __future__ import annotations

import signal
import threading
import time
import uuid
from contextlib import suppress

from orchestrator.contracts.errors import UnavailableError
from tests.faults.fault import ANALYSED_S, TAKEN_OVER_S, Fault
from tests.faults.stage import Size, Stage, Strike
from tests.waiting import wait_for

BESIDE = 500
"""Between the steps of this campaign and those of the next."""
CONTROLLERS = ("controller-1", "controller-2")
LOCK_IS_HELD = "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted)"
HELD = "SELECT id FROM analyses WHERE campaign_id = %s AND state = 'leased'"
ALL_DONE = "SELECT bool_and(state = 'done') FROM analyses WHERE id = ANY (%s)"
RECONCILED_SINCE = "SELECT reconciled_at > to_timestamp(%s) FROM ledger"


class ControllersKilled(Fault):
    """SIGKILL to both; five seconds without any."""

    name = "controllers killed"

    def inject(self, stage: Stage, strike: Strike) -> None:
        for name in CONTROLLERS:
            stage.system.kill(name)
        stage.hold(5)

    def heal(self, stage: Stage, strike: Strike) -> None:
        for name in CONTROLLERS:
            stage.system.start(name)


class ControllersFrozen(Fault):
    """SIGSTOP to both for twenty seconds: agents run out of work, and no lease may suffer from it."""

    name = "controllers frozen"

    def inject(self, stage: Stage, strike: Strike) -> None:
        for name in CONTROLLERS:
            stage.system.tell(name, signal.SIGSTOP)
        stage.hold(20)

    def heal(self, stage: Stage, strike: Strike) -> None:
        for name in CONTROLLERS:
            stage.system.tell(name, signal.SIGCONT)


class LeaderFrozen(Fault):
    """Of two controllers, one is frozen in the middle of its pass, with the lock in its hand."""

    name = "one of two controllers frozen"
    strikes = 1
    within_s = TAKEN_OVER_S

    def inject(self, stage: Stage, strike: Strike) -> None:
        stage.wait("a controller frozen in its pass", lambda: self._frozen_in_its_pass(stage))
        frozen_at = time.time()
        stage.wait("the other to take over", lambda: stage.ledger.try_one(RECONCILED_SINCE, frozen_at), within_s=90)
        stage.notes["took"] = time.time() - frozen_at

    def heal(self, stage: Stage, strike: Strike) -> None:
        stage.system.tell(str(stage.notes["frozen"]), signal.SIGCONT)

    def clear(self, stage: Stage) -> None:
        for name in CONTROLLERS:
            stage.system.tell(name, signal.SIGCONT)

    def recovery_s(self, stage: Stage, strike: Strike) -> float | None:
        return float(str(stage.notes["took"]))

    def _frozen_in_its_pass(self, stage: Stage) -> bool:
        """Freeze one, and look whether it holds the lock all the time; let it go on when it does not."""
        name = stage.rng.choice(CONTROLLERS)
        stage.notes["frozen"] = name
        stage.system.tell(name, signal.SIGSTOP)
        for _ in range(5):
            if not stage.ledger.try_one(LOCK_IS_HELD):
                stage.system.tell(name, signal.SIGCONT)
                return False
            time.sleep(0.05)
        return True


class InterfaceKilled(Fault):
    """SIGKILL, in the middle of a submission: asked again with its key, the campaign is there once."""

    name = "API killed"

    def inject(self, stage: Stage, strike: Strike) -> None:
        key = str(uuid.UUID(int=stage.rng.getrandbits(128)))
        submission = threading.Thread(target=self._submit, args=(stage, key))
        submission.start()
        time.sleep(stage.rng.uniform(0.0, 0.05))
        stage.system.kill("api", stay_down=False)
        submission.join()
        stage.wait("an answer", lambda: self._submit(stage, key))
        with stage.system.client() as client:
            client.cancel(stage.ledger.try_one("SELECT id FROM campaigns WHERE idempotency_key = %s", key))
        stage.notes[key] = "a campaign"

    def complaints(self, stage: Stage) -> list[str]:
        asked = stage.ledger.ask("SELECT idempotency_key FROM campaigns WHERE name = 'asked twice'")
        keys = [key for (key,) in asked]
        return [f"{keys.count(key)} campaigns of one submission" for key in stage.notes if keys.count(key) != 1]

    def _submit(self, stage: Stage, key: str) -> bool:
        with suppress(UnavailableError), stage.system.client() as client:
            client.submit(stage.study("asked twice", beside=BESIDE), key=key)
            return True
        return False


class InterfaceFrozen(Fault):
    """SIGSTOP for ten seconds: nobody at work notices."""

    name = "API frozen"

    def inject(self, stage: Stage, strike: Strike) -> None:
        stage.system.tell("api", signal.SIGSTOP)
        stage.hold(10)

    def heal(self, stage: Stage, strike: Strike) -> None:
        stage.system.tell("api", signal.SIGCONT)


class _StrikesAnalysis(Fault):
    """Settings are done one after the other, so that there is something to analyse all the time, for some time."""

    size = Size(order="as_listed", analysis="max_components: 3")

    def recovery_s(self, stage: Stage, strike: Strike) -> float | None:
        return None


class AnalysisKilled(_StrikesAnalysis):
    """SIGKILL, with a batch in its hand; it is back at once, and knows nothing of it."""

    name = "analysis worker killed"
    strikes = 1
    within_s = ANALYSED_S

    def inject(self, stage: Stage, strike: Strike) -> None:
        stage.notes["held"] = wait_for("a batch in its hand", lambda: self._frozen_with(stage))
        stage.notes[strike.at] = time.time()
        stage.system.kill("analysis-worker", stay_down=False)

    def heal(self, stage: Stage, strike: Strike) -> None:
        stage.wait("what it held analysed", lambda: stage.ledger.try_one(ALL_DONE, stage.notes["held"]))

    def recovery_s(self, stage: Stage, strike: Strike) -> float | None:
        assert strike.healed_at is not None
        return strike.healed_at - float(stage.notes[strike.at])

    def _frozen_with(self, stage: Stage) -> list[int]:
        """Freeze it, and look what it holds; let it go on when that is nothing."""
        stage.system.tell("analysis-worker", signal.SIGSTOP)
        held = [analysis for (analysis,) in stage.ledger.ask(HELD, stage.campaign)]
        if not held:
            stage.system.tell("analysis-worker", signal.SIGCONT)
        return held


class AnalysisFrozen(_StrikesAnalysis):
    """SIGSTOP for twenty seconds."""

    name = "analysis worker frozen"

    def inject(self, stage: Stage, strike: Strike) -> None:
        stage.system.tell("analysis-worker", signal.SIGSTOP)
        stage.hold(20)

    def heal(self, stage: Stage, strike: Strike) -> None:
        stage.system.tell("analysis-worker", signal.SIGCONT)
