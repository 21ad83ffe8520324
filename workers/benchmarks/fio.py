"""fio 3.x: the same six modes as IOzone's, each an fio of its own on the files that the first one made.

IOzone's meaning is kept: every process works on a file of its own, through plain read and write calls; nothing is
dropped from the page cache in between. fio counts a job's duration in whole milliseconds, which would make modes out
of nothing with small files; its latencies are in nanoseconds, so the rate of a process is what it moved divided by
the time it spent in its calls. The throughput of a mode is the sum over processes, as IOzone's children see it.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from orchestrator.contracts.engines import SIX_MODES, FioOptions
from orchestrator.contracts.errors import JobFailure, MissingPartError, OutputError
from orchestrator.contracts.jobs import FailureKind
from workers.benchmarks.outcomes import Reading, outcome
from workers.benchmarks.port import Invocation, Outcome, Succeeded, Task
from workers.benchmarks.process import Runner
from workers.benchmarks.series import in_turn
from workers.benchmarks.sizes import Sizes
from workers.benchmarks.versions import version_text
from workers.node.target import Target

PATTERN_OF_MODE = {
    "initial_writers": "write",
    "rewriters": "write",
    "readers": "read",
    "re-readers": "read",
    "random_readers": "randread",
    "random_writers": "randwrite",
}
_REPORT = "report.json"
_KB = 1024


class Fio:
    """The engine `fio`."""

    name = "fio"
    settle_s = None

    def __init__(self, options: FioOptions, runner: Runner, target: Target) -> None:
        self._options = options
        self._runner = runner
        self._target = target

    def version(self) -> str:
        """As `fio --version` says. Raises MissingPartError."""
        told = version_text(_program(), "--version")
        if not told.startswith("fio-3."):
            raise MissingPartError("fio on PATH is not fio 3.x: `fio --version` does not say so")
        return told.strip().removeprefix("fio-")

    def prepare(self, task: Task) -> None:
        """Check modes, sizes and space. Raises JobFailure."""
        unknown = [mode for mode in task.modes if mode not in PATTERN_OF_MODE]
        if unknown:
            raise JobFailure(FailureKind.STUDY, f"mode {unknown[0]!r} is not one of {', '.join(PATTERN_OF_MODE)}")
        self._target.check(Sizes.of(task).needed_kb)

    def run(self, task: Task, replicate: int) -> Outcome:
        """All modes once, in a folder of its own, removed afterwards."""
        steps = _steps(task.modes)
        with self._target.run_folder() as folder:
            measured = in_turn([partial(self._invoke, mode, task, folder) for mode in steps], self._options.timeout_s)
        if not isinstance(measured, Succeeded):
            return measured
        value_of = dict(zip(steps, measured.values, strict=True))
        return Succeeded(
            values=tuple(value_of[mode] for mode in task.modes),
            elapsed_s=measured.elapsed_s,
            exit_status=0,
            details={mode: measured.details[mode] for mode in task.modes},
        )

    def _invoke(self, mode: str, task: Task, folder: Path, left_s: float) -> Outcome:
        ended = self._runner.run(
            Invocation(
                argv=(_program(), *arguments(mode, Sizes.of(task), self._options)),
                cwd=folder,
                environment={"PATH": os.defpath, "LC_ALL": "C"},
                timeout_s=left_s,
            )
        )
        report = folder / _REPORT
        if report.exists():  # before what fio said beside it: that is what the reason of a failure quotes
            ended = replace(ended, output=report.read_text(errors="replace") + ended.output)
        read = partial(parse, mode=mode)
        return outcome(ended, program="fio", timeout_s=self._options.timeout_s, read=read)


def arguments(mode: str, sizes: Sizes, options: FioOptions) -> tuple[str, ...]:
    """fio's arguments for one mode; files are named relative to the run's folder."""
    flags = {
        "--direct=1": options.direct,
        "--sync=1": options.sync_writes,
        "--end_fsync=1": options.time_flush,
        "--create_on_open=1": mode == SIX_MODES[0],  # or it would write the files before it measures writing them
        "--overwrite=1": mode != SIX_MODES[0],
    }
    return (
        *(
            "--output-format=json",
            f"--output={_REPORT}",
            f"--name={mode}",
            f"--rw={PATTERN_OF_MODE[mode]}",
            "--ioengine=psync",
        ),
        *(f"--numjobs={sizes.threads}", f"--size={sizes.file_size_kb}k", f"--bs={sizes.record_size_kb}k"),
        *("--filename_format=process.$jobnum", "--fallocate=none", "--invalidate=0", "--randrepeat=1"),
        *(flag for flag, wanted in flags.items() if wanted),
    )


def parse(output: str, *, mode: str) -> Reading:
    """The throughput of one mode out of fio's JSON. Raises OutputError."""
    try:
        said, _ = json.JSONDecoder().raw_decode(output, output.index("{"))
        jobs = [job["write" if "write" in PATTERN_OF_MODE[mode] else "read"] for job in said["jobs"]]
        rates = [_rate_kbps(job) for job in jobs]
        own_kbps = sum(float(job["bw_bytes"]) for job in jobs) / _KB
        details = {"min_kbps": min(rates), "max_kbps": max(rates), "fio_bandwidth_kbps": own_kbps}
    except (ValueError, KeyError, TypeError, ZeroDivisionError) as problem:
        raise OutputError(f"no bandwidth for {mode}: not a whole JSON output of fio 3.x") from problem
    return [sum(rates)], {mode: details}


def _rate_kbps(job: dict[str, Any]) -> float:
    """What one process moved, divided by the time it spent in its calls."""
    in_calls_s = float(job["lat_ns"]["N"]) * float(job["lat_ns"]["mean"]) / 1e9
    return float(job["io_bytes"]) / _KB / in_calls_s


def _steps(modes: Sequence[str]) -> list[str]:
    """In IOzone's order; the first write always, since the others need its files; no re-reading before reading."""
    needed = {SIX_MODES[0], *modes} | ({"readers"} if "re-readers" in modes else set())
    return [mode for mode in SIX_MODES if mode in needed]


def _program() -> str:
    found = shutil.which("fio")
    if found is None:
        raise MissingPartError("fio is not on PATH; on Debian and Ubuntu: apt-get install fio")
    return found
