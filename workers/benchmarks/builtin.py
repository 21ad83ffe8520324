"""The engine `builtin`: real file I/O from forked processes, in IOzone's six modes, for trying and for tests.

As in IOzone's throughput mode every process works on a file of its own, all begin a test together, and with
stonewalling the first to end stops the clock of all (the others finish their work, so that the next test finds whole
files). Each process reports what it moved in its own time; the throughput of a mode is the sum of their rates.
"""

from __future__ import annotations

import json
import mmap
import os
import random
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.contracts.engines import SIX_MODES, BuiltinOptions
from orchestrator.contracts.errors import JobFailure
from orchestrator.contracts.jobs import FailureKind
from workers.benchmarks.port import Failed, Outcome, Stopped, Succeeded, Task, TimedOut, bounded, last_line
from workers.benchmarks.process import Cause, Runner
from workers.benchmarks.sizes import Sizes
from workers.node.target import Target

VERSION = "1"
_REPORT = struct.Struct("dd")  # kB moved before the clock stopped, seconds it took
_KB = 1024
_READ, _WRITE = 0, 1
_READY = b"r"


class Builtin:
    """Forks from the agent itself: an interpreter of its own would take longer to start than to measure."""

    name = "builtin"
    settle_s = None

    def __init__(self, options: BuiltinOptions, runner: Runner, target: Target) -> None:
        self._options = options
        self._runner = runner
        self._target = target

    def version(self) -> str:
        """The version of this engine."""
        return VERSION

    def prepare(self, task: Task) -> None:
        """Check modes, sizes and space. Raises JobFailure."""
        unknown = [mode for mode in task.modes if mode not in SIX_MODES]
        if unknown:
            raise JobFailure(FailureKind.STUDY, f"mode {unknown[0]!r} is not one of {', '.join(SIX_MODES)}")
        self._target.check(Sizes.of(task).needed_kb)

    def run(self, task: Task, replicate: int) -> Outcome:
        """All modes once, in a folder of its own, removed afterwards."""
        with self._target.run_folder() as folder:
            bench = _Bench(sizes=Sizes.of(task), stonewall=self._options.stonewall, folder=folder)
            ended = self._runner.call(lambda: bench.measure(_tests(task.modes)), self._options.timeout_s)
        if ended.cause is Cause.STOPPED:
            return Stopped(elapsed_s=ended.elapsed_s)
        if ended.cause is Cause.TIMED_OUT:
            return TimedOut(timeout_s=self._options.timeout_s, output=bounded(ended.output), elapsed_s=ended.elapsed_s)
        if ended.exit_status != 0:
            return Failed(
                reason=f"builtin failed: {last_line(ended.output)}",
                output=bounded(ended.output),
                elapsed_s=ended.elapsed_s,
                exit_status=ended.exit_status,
                kind=FailureKind.NODE if "No space left on device" in ended.output else FailureKind.ENGINE,
            )
        details = json.loads(ended.output)
        return Succeeded(
            values=tuple(details[mode].pop("children_kbps") for mode in task.modes),
            elapsed_s=ended.elapsed_s,
            exit_status=0,
            details={mode: details[mode] for mode in task.modes},
        )


def _tests(modes: Sequence[str]) -> list[str]:
    """In IOzone's order; the first write always, since the others need its files."""
    return [mode for mode in SIX_MODES if mode in modes or mode == SIX_MODES[0]]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Bench:
    """What happens in the child that leads the run's process group."""

    sizes: Sizes
    stonewall: bool
    folder: Path

    def measure(self, tests: Sequence[str]) -> None:
        """Every test in turn, by the same processes; print what came of them as JSON on standard output."""
        shared = [mmap.mmap(-1, 1 + _REPORT.size * self.sizes.threads) for _ in tests]  # a flag, a report a process
        gates = [os.pipe() for _ in tests]
        workers = [self._fork(tests, number, shared, gates) for number in range(self.sizes.threads)]
        summaries = {}
        for test, memory, gate in zip(tests, shared, gates, strict=True):
            _await_all(workers)
            begin = time.perf_counter()
            os.close(gate[_WRITE])  # all of them see the end of the pipe at once
            _await_all(workers)
            elapsed_s = time.perf_counter() - begin
            reports = [_REPORT.unpack_from(memory, 1 + _REPORT.size * number) for number in range(len(workers))]
            summaries[test] = _summary(reports, elapsed_s)
        for _ in workers:
            os.wait()  # or they would be looked for, process by process, in all of /proc
        os.write(1, json.dumps(summaries).encode())

    def _fork(
        self, tests: Sequence[str], number: int, shared: Sequence[mmap.mmap], gates: Sequence[tuple[int, int]]
    ) -> int:
        """A process that does all tests; the descriptor at which it says when it is ready, and when it is done."""
        said, say = os.pipe()
        if os.fork():
            os.close(say)
            return said
        status = 1
        try:
            for gate in gates:
                os.close(gate[_WRITE])
            for test, memory, gate in zip(tests, shared, gates, strict=True):
                move, offsets = self._opened(test, number)
                os.write(say, _READY)
                os.read(gate[_READ], 1)
                report = self._timed(move, offsets, memory)
                _REPORT.pack_into(memory, 1 + _REPORT.size * number, *report)
                os.write(say, _READY)
            status = 0
        except OSError as problem:
            os.write(2, f"{problem.strerror}\n".encode())
        finally:
            os._exit(status)

    def _opened(self, test: str, number: int) -> tuple[Callable[[int], int], list[int]]:
        """How to move the record at an offset (in bytes), and the offsets in order; all that is not to be timed."""
        record_bytes = self.sizes.record_size_kb * _KB
        offsets = list(range(0, self.sizes.file_size_kb * _KB, record_bytes))
        if test.startswith("random"):
            random.Random(number).shuffle(offsets)  # noqa: S311 - an order, not a secret
        path = self.folder / f"process.{number}"
        record = bytearray(os.urandom(record_bytes))
        if test.endswith("readers"):
            source = os.open(path, os.O_RDONLY)
            return lambda offset: os.preadv(source, [record], offset), offsets
        sink = os.open(path, os.O_WRONLY | (os.O_CREAT if test == SIX_MODES[0] else 0), 0o600)
        end = self.sizes.file_size_kb * _KB
        return lambda offset: os.pwrite(sink, memoryview(record)[: end - offset], offset), offsets

    def _timed(self, move: Callable[[int], int], offsets: list[int], shared: mmap.mmap) -> tuple[float, float]:
        """Move all records; what was moved, in kB, until the clock stopped, and how long that took, in s."""
        moved = 0
        report = None
        begin = time.perf_counter()
        for offset in offsets:
            if self.stonewall and shared[0] and report is None:
                report = moved / _KB, time.perf_counter() - begin
            moved += move(offset)
        report = report or (moved / _KB, time.perf_counter() - begin)
        shared[0] = 1
        return report


def _await_all(workers: Sequence[int]) -> None:
    """Until each has said that it is ready, or done; one that is gone has said why, and ends the run."""
    if not all(os.read(said, len(_READY)) for said in workers):
        os._exit(1)


def _summary(reports: Sequence[tuple[float, float]], elapsed_s: float) -> dict[str, float]:
    """The numbers that IOzone prints, by the names that the engine `iozone` gives them."""
    rates = [moved_kb / seconds if moved_kb else 0.0 for moved_kb, seconds in reports]
    moved = [moved_kb for moved_kb, _ in reports]
    return {
        "children_kbps": sum(rates),
        "parent_kbps": sum(moved) / elapsed_s,
        "min_kbps": min(rates),
        "max_kbps": max(rates),
        "avg_kbps": sum(rates) / len(rates),
        "min_xfer_kb": min(moved),
    }
