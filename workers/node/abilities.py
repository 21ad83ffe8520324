"""What a machine cannot do of what a study asks, and how the study can do without."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from orchestrator import settings
from orchestrator.contracts.preparation import Preparation
from workers.node import inventory
from workers.node.facts import tunable
from workers.node.settings import helper
from workers.node.settings.hands import ONLY_BY_HELPER, Hands
from workers.node.settings.order import plan
from workers.node.settings.steps import Act, Facts, Planned, Refusal, Wanted, Write

REMEDIES = {"trim": "trim: never", "drop_caches": "drop_caches: never", "max_wake_us": "max_wake_us: null"}
WHAT = {"frequency": "the CPU frequency", "trim": "the target folder", "drop_caches": "the page cache"}


def shortfalls(
    preparation: Preparation,
    root: Path = Path("/"),
    target: Path | None = None,
    raw: tuple[str, Path] | None = None,
) -> list[tuple[str, str]]:
    """What this machine cannot do, each with the line under `node:` that makes the study run all the same.

    `target`: the folder to be trimmed, and `raw` its dedicated device; those of this user's home when not given.
    """
    if target is None:
        own = inventory.load(settings.home_from())
        target, raw = own.targets[inventory.DEFAULT_TARGET], own.raw(inventory.DEFAULT_TARGET)
    facts = tunable.read(root, target, raw)
    refusals = refused(plan(facts, Wanted(preparation=preparation)), facts, helper.chosen())
    return [(refusal.reason, refusal.remedy) for refusal in refusals]


def refused(planned: tuple[Planned, ...], facts: Facts, hands: Hands) -> tuple[Refusal, ...]:
    """What the machine cannot do, and what we may not do on it: one a setting."""
    found = {refusal.setting: refusal for refusal in reversed([*_refused(planned, facts, hands)])}
    return tuple(reversed(found.values()))


def _refused(planned: tuple[Planned, ...], facts: Facts, hands: Hands) -> Iterator[Refusal]:
    for step in planned:
        match step:
            case Refusal():
                yield step
            case Write(path=path) if not hands.may_write(path):
                yield _needs_root(step.setting)
            case Act(setting="trim") if facts.dedicated is not None:
                if not hands.may_discard():
                    reason = f"the device {facts.dedicated.path} cannot be discarded: {ONLY_BY_HELPER}"
                    yield Refusal(setting="trim", reason=reason, remedy=REMEDIES["trim"])
            case Act(setting="trim") if not hands.may_trim():
                yield _needs_root(step.setting)
            case Act(setting="drop_caches") if not hands.may_write(facts.drop_caches):
                yield _needs_root(step.setting)


def _needs_root(setting: str) -> Refusal:
    verb = {"trim": "trimmed", "drop_caches": "dropped"}.get(setting, "set")
    reason = f"{WHAT.get(setting, setting)} cannot be {verb}: that needs root"
    return Refusal(setting=setting, reason=reason, remedy=REMEDIES.get(setting, f"{setting}: as_is"))
