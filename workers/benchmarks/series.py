"""A run that is several invocations, one after the other, within one time-out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from workers.benchmarks.port import Outcome, Succeeded

Invoke = Callable[[float], Outcome]
"""Invokes once, within the seconds that are left."""


def in_turn(invocations: Sequence[Invoke], timeout_s: float, between: Callable[[], None] = lambda: None) -> Outcome:
    """All of them as one run; the first that does not succeed is what the run amounts to.

    `between` is called between two of them. The time that is told is that of the invocations; the time-out is one of
    these pauses as well, for the lease is granted for no longer.
    """
    paused_s = 0.0
    values: list[float] = []
    details: dict[str, Mapping[str, float]] = {}
    elapsed_s = 0.0
    for number, invoke in enumerate(invocations):
        if number > 0:
            begin = time.monotonic()
            between()
            paused_s += time.monotonic() - begin
        outcome = invoke(max(0.0, timeout_s - elapsed_s - paused_s))
        elapsed_s += outcome.elapsed_s
        if not isinstance(outcome, Succeeded):
            return replace(outcome, elapsed_s=elapsed_s)
        values += outcome.values
        details |= outcome.details
    return Succeeded(values=tuple(values), elapsed_s=elapsed_s, exit_status=0, details=details)
