"""What a plan is made of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from orchestrator.contracts.preparation import Cadence, Preparation
from workers.node.facts.tunable import Tunable


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """The state a study asks for, with the level of this setting."""

    preparation: Preparation
    frequency_khz: int | None = None
    """None: not known yet (a check before any setting is chosen)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Write:
    """A file of /sys, and the word it is to hold. Journalled, and put back."""

    setting: str
    path: Path
    value: str
    moves: tuple[Path, ...] = ()
    """Files that the kernel may change along with it, and not back with it: journalled and put back as well."""

    def __str__(self) -> str:
        return f"write {self.value} to {self.path}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Act:
    """Something that is done again and again, and leaves nothing to be put back."""

    setting: str
    cadence: Cadence
    what: str

    def __str__(self) -> str:
        return f"{self.what}, {self.cadence}"


@dataclass(frozen=True, kw_only=True, slots=True)
class NoOp:
    """Nothing to be done, and why."""

    setting: str
    reason: str

    def __str__(self) -> str:
        return f"nothing: {self.reason}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """What this machine cannot do, and the line under `node:` that makes the study run all the same."""

    setting: str
    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"cannot: {self.reason}; `node: {{{self.remedy}}}` runs the study all the same"


Planned = Write | Act | NoOp | Refusal
Facts = Tunable


def as_is(setting: str) -> NoOp:
    """The study does not ask for it."""
    return NoOp(setting=setting, reason="the study leaves it as it is")


def already(setting: str, state: str) -> NoOp:
    """What is wanted is there."""
    return NoOp(setting=setting, reason=f"it is {state} already")
