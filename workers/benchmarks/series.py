"""A run that is several invocations, one after the other, within one time-out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from workers.benchmarks.port import Outcome, Succeeded

Invoke = Callable[[float], Outcome]
"""Invokes once, within the seconds that are left."""


def in_turn(invocations: Sequence[Invoke], timeout_s: float) -> Outcome:
    """All of them as one run; the first that does not succeed is what the run amounts to.

    The time that counts is that of the invocations, not what lies between them.
    """
    values: list[float] = []
    details: dict[str, Mapping[str, float]] = {}
    elapsed_s = 0.0
    for invoke in invocations:
        outcome = invoke(timeout_s - elapsed_s)
        elapsed_s += outcome.elapsed_s
        if not isinstance(outcome, Succeeded):
            return replace(outcome, elapsed_s=elapsed_s)
        values += outcome.values
        details |= outcome.details
    return Succeeded(values=tuple(values), elapsed_s=elapsed_s, exit_status=0, details=details)
