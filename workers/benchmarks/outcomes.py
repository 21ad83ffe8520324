"""What an invocation that is over amounts to, whatever the program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from orchestrator.contracts.errors import OutputError
from orchestrator.contracts.jobs import FailureKind
from workers.benchmarks.port import Failed, Outcome, Stopped, Succeeded, TimedOut, bounded, last_line
from workers.benchmarks.process import Cause, Ended

Reading = tuple[Sequence[float], Mapping[str, Mapping[str, float]]]
"""Values in kB/s, and what else is said about each mode."""


def outcome(ended: Ended, *, program: str, timeout_s: float, read: Callable[[str], Reading]) -> Outcome:
    """`read` takes the values out of the output, and raises OutputError when they are not there."""
    if ended.cause is Cause.STOPPED:
        return Stopped(elapsed_s=ended.elapsed_s)
    if ended.cause is Cause.TIMED_OUT:
        return TimedOut(timeout_s=timeout_s, output=bounded(ended.output), elapsed_s=ended.elapsed_s)
    if "No space left on device" in ended.output:
        return _failed(ended, "disk full: No space left on device", FailureKind.NODE)
    if ended.exit_status != 0:
        return _failed(ended, f"{program} ended {_how(ended)}: {last_line(ended.output)}")
    try:
        values, details = read(ended.output)
    except OutputError as problem:
        return _failed(ended, f"{program}'s output: {problem}")
    return Succeeded(values=tuple(values), elapsed_s=ended.elapsed_s, exit_status=0, details=details)


def _failed(ended: Ended, reason: str, kind: FailureKind = FailureKind.ENGINE) -> Failed:
    return Failed(
        reason=reason,
        output=bounded(ended.output),
        elapsed_s=ended.elapsed_s,
        exit_status=ended.exit_status,
        kind=kind,
    )


def _how(ended: Ended) -> str:
    return "by a signal" if ended.exit_status is None else f"with exit status {ended.exit_status}"
