"""Which engines there are, and which of them can work on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.contracts import engines as contracts
from orchestrator.contracts.errors import JobFailure, MissingPartError, StudyError
from orchestrator.contracts.jobs import FailureKind
from workers.benchmarks import command
from workers.benchmarks.builtin import Builtin
from workers.benchmarks.command import Command
from workers.benchmarks.fio import Fio
from workers.benchmarks.iozone import Iozone
from workers.benchmarks.port import Engine
from workers.benchmarks.process import Runner
from workers.benchmarks.replay import Replay
from workers.node.inventory import DEFAULT_TARGET, Inventory
from workers.node.target import Target


@dataclass(frozen=True, kw_only=True, slots=True)
class Bench:
    """What a node gives its engines."""

    node: str
    runner: Runner
    inventory: Inventory
    state: Path
    """The node's own folder: built parts, and what was changed and is to be put back."""

    target_name: str = DEFAULT_TARGET

    @property
    def target(self) -> Target:
        """The folder in which benchmarks make their files."""
        return self._target(self.target_name)

    @property
    def targets(self) -> tuple[Target, ...]:
        """All of the inventory's."""
        return tuple(self._target(name) for name in self.inventory.targets)

    @property
    def raw(self) -> tuple[str, Path] | None:
        """Name and path of the device that the inventory dedicates to the target."""
        return self.inventory.raw(self.target_name)

    def aimed_at(self, target_name: object) -> Bench:
        """The same node with another target folder. Raises JobFailure (node) for a name not in its inventory."""
        if target_name not in self.inventory.targets:
            known = ", ".join(self.inventory.targets)
            raise JobFailure(
                FailureKind.NODE, f"target {target_name!r} is not in this node's inventory; there: {known}"
            )
        return replace(self, target_name=str(target_name))

    def _target(self, name: str) -> Target:
        return Target(self.inventory.targets[name], node=self.node, reserve_kb=self.inventory.reserve_kb)


def engine(name: str, given: Mapping[str, object], bench: Bench) -> Engine:
    """The engine `name` with the options that a study gives it.

    Raises JobFailure (study) for an engine or option that this version does not know.
    """
    try:
        options = contracts.options(name, given)
    except StudyError as problem:
        raise JobFailure(FailureKind.STUDY, str(problem)) from problem
    match options:
        case contracts.IozoneOptions():
            return Iozone(options, bench.runner, bench.aimed_at(options.target).target, bench.state)
        case contracts.FioOptions():
            return Fio(options, bench.runner, bench.aimed_at(options.target).target)
        case contracts.CommandOptions():
            return Command(options, bench.runner, bench.aimed_at(options.target).target, bench.inventory.programs)
        case contracts.BuiltinOptions():
            return Builtin(options, bench.runner, bench.aimed_at(options.target).target)
        case contracts.ReplayOptions():
            return Replay(options, bench.runner.stop, bench.inventory.recordings)
        case contracts.ImportedOptions():
            raise JobFailure(FailureKind.STUDY, "what was imported cannot be measured")


def available(bench: Bench) -> dict[str, str]:
    """Engine -> version, of those that can work on this machine."""
    minimal = {"iozone": {}, "fio": {}, "builtin": {}, "replay": {"mixture": "normal:1,1,1"}}
    found = {"command": command.VERSION} if bench.inventory.programs else {}
    for name, options in minimal.items():
        try:
            found[name] = engine(name, options, bench).version()
        except MissingPartError:
            continue
    return found
