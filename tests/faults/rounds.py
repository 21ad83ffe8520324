"""One round: a seed becomes moments, the fault strikes at each, and the ledger is audited at the end."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from random import Random
from zlib import crc32

from tests.faults import audit
from tests.faults.audit import Findings
from tests.faults.fault import Fault
from tests.faults.stage import Stage, Strike
from tests.faults.system import System
from tests.waiting import wait_for

FIRST_MOMENT, LAST_MOMENT = 0.05, 0.6
"""Shares of the campaign between which a fault strikes: enough is left to see the work resumed."""
ENDS_WITHIN_S = 600.0
JUDGED_WITHIN_S = 300.0
"""The first fits of a fresh checkout are compiled before."""
STEPS_PER_ROUND = 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What one round showed."""

    fault: str
    seed: int
    runs: int
    """In the campaign."""
    findings: Findings
    recovery_s: tuple[float, ...]
    within_s: float | None
    """The bar for every recovery."""
    elapsed_s: float

    @property
    def passed(self) -> bool:
        slow = self.within_s is not None and any(took_s > self.within_s for took_s in self.recovery_s)
        return not (self.findings.lost or self.findings.doubled or self.findings.complaints or slow)


def play(system: System, fault: Fault, *, seed: int, number: int, scale: float, runs: int) -> Outcome:
    """Play one round; a state that is never reached is a complaint, not an exception."""
    begin = time.monotonic()
    rng = Random(crc32(f"{fault.name} {seed}".encode()))
    stage = Stage(system=system, rng=rng, scale=scale, size=fault.size.about(runs), first_step=number * STEPS_PER_ROUND)
    stuck: list[str] = []
    try:
        _strike_again_and_again(fault, stage)
        _await_end(stage)
    except AssertionError as never:
        stuck = [str(never)]
        system.start_all()
        stage.give_up()
    findings = audit.audit(stage, fault, stuck)
    fault.clear(stage)
    recovery_s = [
        took_s for one in stage.strikes if one.healed_at and (took_s := fault.recovery_s(stage, one)) is not None
    ]
    return Outcome(
        fault=fault.name, seed=seed, runs=stage.size.runs, findings=findings, recovery_s=tuple(recovery_s),
        within_s=fault.within_s, elapsed_s=time.monotonic() - begin,
    )  # fmt: skip


def _strike_again_and_again(fault: Fault, stage: Stage) -> None:
    fault.prepare(stage)
    stage.submit(f"{fault.name} {stage.first_step}")
    for moment in _moments(fault, stage.rng):
        wait_for(f"{moment:.0%} of the campaign", partial(_is_beyond, stage, moment))
        time.sleep(stage.rng.uniform(0.0, 0.5))  # anywhere within a job, not only where runs come in
        strike = Strike(at=time.time())
        stage.strikes.append(strike)
        try:
            fault.inject(stage, strike)
        finally:  # a strike that missed must not spoil the rounds after it
            fault.heal(stage, strike)
        strike.healed_at = time.time()


def _is_beyond(stage: Stage, moment: float) -> bool:
    return stage.ledger.share_done(stage.campaign) >= moment


def _moments(fault: Fault, rng: Random) -> list[float]:
    return sorted(rng.uniform(FIRST_MOMENT, LAST_MOMENT) for _ in range(fault.strikes))


def _await_end(stage: Stage) -> None:
    wait_for(
        "the end of the campaign", lambda: stage.ledger.state(stage.campaign),
        lambda state: state not in (None, "running"),
        within_s=ENDS_WITHIN_S,
    )  # fmt: skip
    stage.system.wait_until_at_work()
    wait_for(
        "final verdicts", lambda: stage.ledger.unanalysed(stage.campaign), lambda left: left == 0,
        within_s=JUDGED_WITHIN_S,
    )  # fmt: skip
