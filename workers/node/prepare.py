"""Put a node into the state that a study asks for, prove it, and put it back afterwards."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from orchestrator.contracts.designs import Level
from orchestrator.contracts.errors import JobFailure
from orchestrator.contracts.jobs import FailureKind
from orchestrator.contracts.preparation import Cadence, Frequency, Preparation
from workers.benchmarks.engines import Bench
from workers.node import abilities, collectors, quiet
from workers.node.cold import ColdCache
from workers.node.collectors import Counted
from workers.node.collectors.trimmed import Use
from workers.node.facts import frequency, tunable
from workers.node.gate import judge
from workers.node.restore import Changes
from workers.node.settings import helper
from workers.node.settings.hands import Hands
from workers.node.settings.order import ORDER, plan
from workers.node.settings.steps import Facts, Refusal, Wanted, Write
from workers.node.watch import Watch

logger = logging.getLogger(__name__)

FREQUENCY_FACTOR = "frequency_khz"


@dataclass(frozen=True, kw_only=True, slots=True)
class Before:
    """A node when a run may start."""

    observed: dict[str, object]
    temperature_c: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class After:
    """A node when a run has ended."""

    observed: dict[str, object]
    """For the run: the state before it, and what went on around it."""
    reason: str | None
    """Why the run does not count; None when it does."""


@dataclass(frozen=True, kw_only=True)
class Node:
    """A prepared node, between `prepared` and its end."""

    wanted: Preparation
    facts: Facts
    """As read when everything was set."""
    root: Path
    hands: Hands
    shared: bool
    """Other parts of Modescope work on this machine: there is no silence to wait for."""
    watch: Watch
    cold: ColdCache
    use: Use

    def before_run(self) -> Before:
        """Do what is to be done before every run."""
        self.refresh(Cadence.PER_RUN)
        found = self._quiet()
        self.cold.look()
        return Before(observed=self._observed() | found.as_dict(), temperature_c=found.temperature_c)

    def between_invocations(self) -> None:
        """Before the next of a run that is several invocations (one mode in each): they are to begin alike."""
        self.refresh(Cadence.PER_RUN)
        self._quiet()
        self.cold.look()

    def begin_run(self) -> None:
        """The last thing before a run."""
        self.watch.begin()

    def after_run(self, before: Before) -> After:
        """What was observed around a run, and why it does not count, if so."""
        seen = self.watch.end(start_temperature_c=before.temperature_c, cached_kb=self.cold.seen_kb())
        self.use.ran()
        observed = before.observed | seen.as_dict() | self.watch.collected()
        return After(observed=observed, reason=judge(seen, self.wanted.bounds))

    def refresh(self, cadence: Cadence) -> None:
        """What is done again and again, in the order of `settings.order`."""
        if self.wanted.sync is cadence and not self.shared:
            quiet.sync_if_needed(self.root)
        if self.wanted.trim is cadence:
            self._trim()
        if self.wanted.drop_caches is cadence:
            os.sync()  # only clean pages can be dropped
            self.hands.write(self.facts.drop_caches, "3")
            self.cold.dropped()

    def _trim(self) -> None:
        os.sync()
        if self.facts.dedicated is not None:
            self.hands.discard(self.facts.dedicated.name)
        elif self.facts.mount is not None:
            self.hands.trim(self.facts.mount.point)
        self.use.trimmed()

    def _quiet(self) -> quiet.Quiet:
        return quiet.wait(
            self.root,
            timeout_s=self.wanted.settle_timeout_s,
            until_written=self.wanted.sync is Cadence.PER_RUN and not self.shared,
            cool_to_c=self.wanted.bounds.max_start_temperature_c,
        )

    def _observed(self) -> dict[str, object]:
        state: dict[str, object] = {"frequency": str(self.wanted.frequency)}
        if self.facts.mount is not None:
            state["file_system"] = self.facts.mount.kind
        if self.facts.scalings:
            state["governor"] = self.facts.scalings[0].governor
        return state


@contextmanager
def prepared(
    preparation: Preparation,
    setting: Mapping[str, Level],
    bench: Bench,
    root: Path = Path("/"),
    *,
    hands: Hands | None = None,
    shared: bool = False,
) -> Iterator[Node]:
    """A node as the study wants it for one job, and as it was found afterwards.

    Raises JobFailure (study) naming the first thing that this node cannot do.
    """
    hands = helper.chosen() if hands is None else hands
    wanted = Wanted(preparation=preparation, frequency_khz=_frequency_khz(preparation, setting))
    changes = Changes(bench.state, hands)
    try:
        facts = apply(wanted, root, bench.target.path, changes, hands, raw=bench.raw)
        use = Use(bench.state, facts.device)
        counted = Counted(root=root, facts=facts, use=use, forked_from=bench.runner.forked_from)
        watch = Watch(
            root,
            facts,
            scalings=frequency.listed(facts.scalings, preparation.cpus),
            wanted_khz=wanted.frequency_khz,
            target=bench.target.path,
            shared=shared,
            counting=collectors.chosen(preparation.collect, counted),
        )
        with closing(watch), closing(use):
            node = Node(
                wanted=preparation,
                facts=facts,
                root=root,
                hands=hands,
                shared=shared,
                watch=watch,
                cold=ColdCache(root),
                use=use,
            )
            node.refresh(Cadence.PER_JOB)
            yield node
    finally:
        _report(changes.restore())


def apply(
    wanted: Wanted,
    root: Path,
    target: Path,
    changes: Changes,
    hands: Hands,
    *,
    raw: tuple[str, Path] | None = None,
) -> Facts:
    """Set everything in its order, facts being read again before each; the facts when all is as wanted.

    Raises JobFailure (study) before the first change when something cannot be had, after the last when it was not.
    """
    facts = tunable.read(root, target, raw)
    if refusals := abilities.refused(plan(facts, wanted), facts, hands):
        raise _cannot(refusals[0])
    for tuning in ORDER:
        writes = [step for step in tuning.plan(facts, wanted) if isinstance(step, Write)]
        if writes:
            changes.make(writes)
            facts = tunable.read(root, target, raw)
    for step in plan(facts, wanted):
        if isinstance(step, Refusal):
            raise _cannot(step)
        if isinstance(step, Write):
            raise JobFailure(FailureKind.STUDY, f"{step.path}: was set to {step.value}, and something changed it again")
    return facts


def restore(bench: Bench) -> None:
    """At the start of an agent: put back what an earlier life changed and could not put back."""
    _report(Changes(bench.state).restore())


def _frequency_khz(preparation: Preparation, setting: Mapping[str, Level]) -> int | None:
    if preparation.frequency is Frequency.AS_IS:
        return None
    level = setting.get(FREQUENCY_FACTOR)
    if isinstance(level, bool) or not isinstance(level, int):
        raise JobFailure(FailureKind.STUDY, f"node.frequency: pinned wants a factor {FREQUENCY_FACTOR} in whole kHz")
    return level


def _cannot(refusal: Refusal) -> JobFailure:
    return JobFailure(FailureKind.STUDY, f"{refusal.reason}; `node: {{{refusal.remedy}}}` runs the study all the same")


def _report(problems: list[str]) -> None:
    for problem in problems:
        logger.error("not restored: %s", problem)
