"""What a fault is: how it is injected and healed, and how long the service may take to get over it."""

from __future__ import annotations

from tests.faults.program import TIMEOUT_S
from tests.faults.stage import Size, Stage, Strike
from tests.faults.system import NODES

REDIS_BACK_S = 5.0
"""After Redis has returned, work resumes within this."""
ELSEWHERE_S = TIMEOUT_S + 30.0
"""A dead agent's job is running elsewhere within this."""
ANALYSED_S = 45.0
"""What a dead analysis worker held is analysed within this: its lease, and the longest pause of those that look."""
TAKEN_OVER_S = 15.0
"""With one controller frozen, the other takes over within this."""


class Fault:
    """The base: nothing happens."""

    name = "nothing"
    size = Size()
    strikes = 2
    """How often it strikes in a round."""
    within_s: float | None = None
    """The issue's bar for `recovery_s`."""
    kills_parts = False
    """Parts may die of it by themselves."""

    def prepare(self, stage: Stage) -> None:
        """Before the campaign is submitted."""

    def inject(self, stage: Stage, strike: Strike) -> None:
        """Strike."""

    def heal(self, stage: Stage, strike: Strike) -> None:
        """Undo it."""

    def clear(self, stage: Stage) -> None:
        """After the audit: leave the system as it was found."""

    def missing_steps(self, stage: Stage) -> frozenset[int]:
        """Steps of which no run is expected."""
        return frozenset()

    def complaints(self, stage: Stage) -> list[str]:
        """What this fault in particular should have led to, and did not."""
        return []

    def recovery_s(self, stage: Stage, strike: Strike) -> float | None:
        """From the healing until every node has begun a job that it claimed afterwards; None: nothing to recover."""
        return resumed_s(stage, strike)


def resumed_s(stage: Stage, strike: Strike) -> float:
    """From the healing until every node has begun a job that it claimed afterwards, or the campaign was over."""
    assert strike.healed_at is not None
    ended_at = max(strike.healed_at, stage.ledger.ended_at(stage.campaign))
    first = dict.fromkeys(NODES, ended_at)
    for begun in stage.ledger.begun(stage.campaign):
        if begun.at > strike.healed_at:
            first[begun.node] = min(first[begun.node], begun.at)
    return max(first.values()) - strike.healed_at


def elsewhere_s(stage: Stage, strike: Strike) -> float | None:
    """From the strike until another node worked on the struck node's job; None when the job was over by then."""
    later = [
        begun.at for begun in stage.ledger.begun(stage.campaign)
        if begun.job_id == strike.job and begun.node != strike.node and begun.at > strike.at
    ]  # fmt: skip
    return min(later) - strike.at if later else None
