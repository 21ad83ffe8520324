"""What a fault acts upon: the system, one campaign in it, chance, and the record of what was done."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from tests.faults.ledger import Ledger
from tests.faults.program import MODES, NAME, TIMEOUT_S
from tests.faults.system import NODES, System
from tests.waiting import wait_for

STUDY = """
name: {name}
design:
  blocks:
    - levels: {{step: [{steps}]}}
      modes: [{modes}]
replicates: {replicates}
replicates_per_job: {per_job}
order: {order}
engine: {{name: command, program: {program}, timeout_s: {timeout_s:g}}}
analysis: {{{analysis}}}
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Size:
    """How much a campaign of a round measures."""

    steps: int = 10
    replicates: int = 200
    per_job: int = 20
    order: str = "randomised"
    analysis: str = "families: [normal], max_components: 1"

    @property
    def runs(self) -> int:
        """In all."""
        return self.steps * self.replicates

    def about(self, runs: int) -> Size:
        """As many replicates of each step as come next to so many runs; at least two jobs of each."""
        return replace(self, replicates=max(2, round(runs / self.steps / self.per_job)) * self.per_job)


@dataclass(kw_only=True, slots=True)
class Strike:
    """One time that a fault struck."""

    at: float
    """Seconds since the epoch; the database has the same clock."""
    healed_at: float | None = None
    node: str | None = None
    job: int | None = None
    """What that node held."""


@dataclass(kw_only=True)
class Stage:
    """One round's surroundings."""

    system: System
    rng: Random
    scale: float
    """Of how long faults last: 1 is as the issue says."""
    size: Size
    first_step: int
    """Steps are never used twice, so that a line of the log belongs to one campaign."""
    campaign: int = 0
    strikes: list[Strike] = field(default_factory=list)
    notes: dict[str, Any] = field(default_factory=dict)
    """What a fault has to remember until it is checked."""

    @property
    def ledger(self) -> Ledger:
        return self.system.ledger

    @property
    def steps(self) -> range:
        return range(self.first_step, self.first_step + self.size.steps)

    def study(self, name: str, *, beside: int = 0) -> str:
        """The campaign of this round; `beside`: one of other steps, whose runs are not audited."""
        steps = [step + beside for step in self.steps]
        return STUDY.format(
            name=name, steps=", ".join(map(str, steps)), modes=", ".join(MODES), program=NAME,
            replicates=self.size.replicates, per_job=self.size.per_job, order=self.size.order, timeout_s=TIMEOUT_S,
            analysis=self.size.analysis,
        )  # fmt: skip

    def submit(self, name: str) -> None:
        """Submit it."""
        with self.system.client() as client:
            self.campaign = client.submit(self.study(name))[0].id

    def give_up(self) -> None:
        """Cancel what does not end, so that the next round finds free nodes."""
        if self.ledger.state(self.campaign) == "running":
            with self.system.client() as client:
                client.cancel(self.campaign, now=True)

    def any_node(self) -> str:
        """One of the nodes."""
        return self.rng.choice(NODES)

    def busy_node(self, *, of: tuple[str, ...] = NODES) -> tuple[str, int]:
        """A node that holds a job, and the job."""
        leases = wait_for("a node at work", lambda: {
            node: job for node, job in self.ledger.leases(self.campaign).items() if node in of
        })  # fmt: skip
        return self.rng.choice(sorted(leases.items()))

    def hold(self, seconds: float) -> None:
        """Let the fault last."""
        time.sleep(seconds * self.scale)

    def wait(self, what: str, holds: Callable[[], object], *, within_s: float = 180.0) -> None:
        """Wait for a state that the fault needs."""
        wait_for(what, holds, within_s=within_s)
