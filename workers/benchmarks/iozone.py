"""IOzone 3.x in throughput mode: one invocation measures all modes of a setting."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from orchestrator.contracts.engines import IozoneOptions
from orchestrator.contracts.errors import JobFailure, MissingPartError, OutputError
from orchestrator.contracts.jobs import FailureKind
from workers.benchmarks import iozone_text, settle
from workers.benchmarks.outcomes import Reading, outcome
from workers.benchmarks.port import Invocation, Outcome, Task
from workers.benchmarks.process import Ended, Runner
from workers.benchmarks.series import in_turn
from workers.benchmarks.sizes import Sizes
from workers.benchmarks.versions import version_text
from workers.node.target import Target

TEST_OF_MODE = {
    **{"initial_writers": 0, "rewriters": 0, "readers": 1, "re-readers": 1, "random_readers": 2, "random_writers": 2},
    **{"reverse_readers": 3, "stride_readers": 5, "fwriters": 6, "freaders": 7, "mixed_workload": 8},
    **{"pwrite_writers": 9, "pread_readers": 10},
}
"""Mode -> the number of IOzone's `-i`; tests 4, 11 and 12 measure nothing in throughput mode."""
_WRITE_TEST = 0
"""Always run: the others need the files it writes."""
_VERSION = re.compile(r"Version \$Revision: (\S+) \$")
_SHIM = "settle.so"


class Iozone:
    """The engine `iozone`."""

    name = "iozone"

    def __init__(self, options: IozoneOptions, runner: Runner, target: Target, cache: Path) -> None:
        self._options = options
        self._runner = runner
        self._target = target
        self._cache = cache

    @property
    def settle_s(self) -> float:
        """The study's, or IOzone's own."""
        return settle.IOZONE_OWN_S if self._options.settle_s is None else self._options.settle_s

    def version(self) -> str:
        """As `iozone -v` says. Raises MissingPartError."""
        found = _VERSION.search(version_text(_program(), "-v"))
        if found is None:
            raise MissingPartError("iozone on PATH is not IOzone 3.x: `iozone -v` names no version")
        return found[1]

    def prepare(self, task: Task) -> None:
        """Check sizes, space and modes; build the shim if the study sets the settle time. Raises JobFailure."""
        arguments(task, self._options)
        self._target.check(Sizes.of(task).needed_kb)
        if self._options.settle_s is not None:
            settle.library(self._cache)

    def run(self, task: Task, replicate: int) -> Outcome:
        """One invocation, or one a mode, each in a folder of its own, removed afterwards."""
        if self._options.modes_per_invocation == "all":
            return self._invoke(task, self._options.timeout_s)
        parts = [replace(task, modes=(mode,)) for mode in task.modes]
        return in_turn(
            [partial(self._invoke, part) for part in parts], self._options.timeout_s, task.between_invocations
        )

    def _invoke(self, task: Task, left_s: float) -> Outcome:
        with self._target.run_folder() as folder:
            ended = self._runner.run(self._invocation(task, folder, left_s))
        return _outcome(ended, task, self._options.timeout_s)

    def _invocation(self, task: Task, folder: Path, left_s: float) -> Invocation:
        return Invocation(
            argv=(_program(), *arguments(task, self._options)),
            cwd=folder,
            environment={"PATH": os.defpath, "LC_ALL": "C"} | self._preload(folder),
            timeout_s=left_s,
        )

    def _preload(self, folder: Path) -> dict[str, str]:
        if self._options.settle_s is None:
            return {}
        # By a relative name: LD_PRELOAD splits at blanks and colons, and a home folder may have some.
        (folder / _SHIM).symlink_to(settle.library(self._cache).resolve())
        return {"LD_PRELOAD": f"./{_SHIM}", settle.NANOSECONDS: str(round(self._options.settle_s * 1e9))}


def arguments(task: Task, options: IozoneOptions) -> tuple[str, ...]:
    """IOzone's arguments for a task; files are named relative to the run's folder. Raises JobFailure (study)."""
    sizes = Sizes.of(task)
    tests = [word for test in _tests(task.modes, options) for word in ("-i", str(test))]
    return (
        *("-t", str(sizes.threads), "-s", f"{sizes.file_size_kb}k", "-r", f"{sizes.record_size_kb}k"),
        *tests,
        *(flag for flag, wanted in _flags(options).items() if wanted),
        *("-F", *(f"process.{number}" for number in range(sizes.threads))),
    )


def _flags(options: IozoneOptions) -> dict[str, bool]:
    return {
        "-x": not options.stonewall,
        "-I": options.direct,
        "-o": options.sync_writes,
        "-e": options.time_flush,
        "-c": options.time_close,
        "-+n": options.no_retest,
    }


def _outcome(ended: Ended, task: Task, timeout_s: float) -> Outcome:
    """Raises JobFailure when no other try can do better."""
    if f"{_SHIM}' from LD_PRELOAD cannot be preloaded" in ended.output:
        raise JobFailure(FailureKind.STUDY, "engine.settle_s: this node's iozone cannot load the settle shim")
    return outcome(ended, program="iozone", timeout_s=timeout_s, read=partial(_read, modes=task.modes))


def _read(output: str, modes: Sequence[str]) -> Reading:
    measured = {entry.mode: entry for entry in iozone_text.parse(output)}
    missing = [mode for mode in modes if mode not in measured]
    if missing:
        raise OutputError(f"no value for {', '.join(missing)}")
    return [measured[mode].throughput_kbps for mode in modes], {mode: measured[mode].details for mode in modes}


def _tests(modes: Iterable[str], options: IozoneOptions) -> list[int]:
    unknown = [mode for mode in modes if mode not in options.modes]
    if unknown:
        raise JobFailure(FailureKind.STUDY, f"mode {unknown[0]!r} is not one of {', '.join(options.modes)}")
    return sorted({_WRITE_TEST} | {TEST_OF_MODE[mode] for mode in modes})


def _program() -> str:
    found = shutil.which("iozone")
    if found is None:
        raise MissingPartError(
            "iozone is not on PATH; on Debian and Ubuntu `deploy/install-iozone` (as root) installs it"
        )
    return found
