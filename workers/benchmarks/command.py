"""The engine `command`: a program that the node's inventory names, with a study's levels as arguments."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from functools import partial

from orchestrator.contracts.designs import Level
from orchestrator.contracts.engines import CommandOptions
from orchestrator.contracts.errors import JobFailure, OutputError
from orchestrator.contracts.jobs import FailureKind
from workers.benchmarks.outcomes import Reading, outcome
from workers.benchmarks.port import Invocation, Outcome, Task
from workers.benchmarks.process import Runner
from workers.node import programs
from workers.node.programs import PLACEHOLDER, Metric, Program
from workers.node.target import Target

VERSION = "1"
_SAFE_TEXT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,199}")
"""What a level that is text may look like as an argument: no option, no path, no list, no assignment."""


class Command:
    """Runs in a folder of its own in the target, in nothing but the environment that the inventory gives."""

    name = "command"
    settle_s = None

    def __init__(self, options: CommandOptions, runner: Runner, target: Target, offered: Mapping[str, Program]) -> None:
        self._options = options
        self._runner = runner
        self._target = target
        self._programs = offered

    def version(self) -> str:
        """The version of this engine: what its programs are is the inventory's word."""
        return VERSION

    def prepare(self, task: Task) -> None:
        """Check the program, its metrics and its arguments. Raises JobFailure."""
        program = self._program()
        unknown = [mode for mode in task.modes if mode not in program.metrics]
        if unknown:
            known = ", ".join(program.metrics)
            raise _study(f"mode {unknown[0]!r} is no metric of program {self._options.program!r}; its metrics: {known}")
        for mode in task.modes:
            if programs.factor(program.metrics[mode].unit, self._options.unit) is None:
                unit = program.metrics[mode].unit
                raise _study(
                    f"metric {mode} is in {unit} in this node's inventory; write `unit: {unit}` under `engine`"
                )
        arguments(program, task.setting)
        if not os.access(program.path, os.X_OK) or not program.path.is_file():
            raise JobFailure(FailureKind.NODE, f"{program.path}: no such program, or it may not be executed")
        self._target.check(0)

    def run(self, task: Task, replicate: int) -> Outcome:
        """One invocation."""
        program = self._program()
        with self._target.run_folder() as folder:
            ended = self._runner.run(
                Invocation(
                    argv=(str(program.path), *arguments(program, task.setting)),
                    cwd=folder,
                    environment={"PATH": os.defpath, "LC_ALL": "C", **program.environment},
                    timeout_s=self._options.timeout_s,
                )
            )
        read = partial(parse, metrics=program.metrics, modes=task.modes, unit=self._options.unit)
        return outcome(ended, program=self._options.program, timeout_s=self._options.timeout_s, read=read)

    def _program(self) -> Program:
        name = self._options.program
        if name not in self._programs:
            known = ", ".join(self._programs) or "none"
            raise JobFailure(FailureKind.NODE, f"program {name!r} is not in this node's inventory; there: {known}")
        return self._programs[name]


def arguments(program: Program, setting: Mapping[str, Level]) -> tuple[str, ...]:
    """The inventory's words, each still one word, with levels in their places. Raises JobFailure (study)."""
    return tuple(PLACEHOLDER.sub(lambda found: _as_text(found[1], setting), word) for word in program.arguments)


def _as_text(factor: str, setting: Mapping[str, Level]) -> str:
    level = setting.get(factor)
    match level:
        case None:
            raise _study(f"the program wants a factor {factor!r}")
        case str() if _SAFE_TEXT.fullmatch(level):
            return level
        case int() | float() if not isinstance(level, bool) and math.isfinite(level) and level >= 0:
            return str(level)
    raise _study(f"factor {factor}: {level!r} cannot be an argument: a number from 0, or letters, digits and _.+-")


def parse(output: str, *, metrics: Mapping[str, Metric], modes: Sequence[str], unit: str) -> Reading:
    """The values of `modes` in the study's unit; in the details, each as it was printed. Raises OutputError."""
    printed = {mode: _value(output, mode, metrics[mode]) for mode in modes}
    values = [printed[mode] * (programs.factor(metrics[mode].unit, unit) or math.nan) for mode in modes]
    return values, {mode: {f"value ({metrics[mode].unit})": printed[mode]} for mode in modes}


def _value(output: str, mode: str, metric: Metric) -> float:
    found = _by_path(output, mode, metric.json_path or ()) if metric.pattern is None else _matched(output, mode, metric)
    try:
        value = float(found)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise OutputError(f"metric {mode}: {found!r} is not a number from 0 on")
    return value


def _matched(output: str, mode: str, metric: Metric) -> str:
    assert metric.pattern is not None  # noqa: S101 - the caller looked
    found = metric.pattern.findall(output)
    if len(found) != 1:
        raise OutputError(f"metric {mode}: its pattern stands {len(found)} times in the output, not once")
    return str(found[0])


def _by_path(output: str, mode: str, path: Sequence[str]) -> str | float:
    try:
        value = json.loads(output)
        for step in path:
            value = value[int(step)] if isinstance(value, list) else value[step]
    except (ValueError, KeyError, IndexError, TypeError) as problem:
        raise OutputError(f"metric {mode}: nothing at {'.'.join(path)} in a JSON output") from problem
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise OutputError(f"metric {mode}: {value!r} at {'.'.join(path)} is not a number")
    return value


def _study(reason: str) -> JobFailure:
    return JobFailure(FailureKind.STUDY, reason)
