"""A run that is several invocations, one after the other."""

from __future__ import annotations

import time

import pytest

from workers.benchmarks import series
from workers.benchmarks.port import Failed, Outcome, Succeeded


def test_the_time_between_invocations_counts_towards_the_time_out_but_not_as_time_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_s, left_s = [0.0], []
    monkeypatch.setattr(time, "monotonic", lambda: now_s[0])

    def invoke(seconds: float) -> Outcome:
        left_s.append(seconds)
        return Succeeded(values=(1.0,), elapsed_s=2.0, exit_status=0)

    def between() -> None:
        now_s[0] += 10.0

    outcome = series.in_turn([invoke] * 4, 30.0, between)
    assert left_s == [30.0, 18.0, 6.0, 0.0]
    assert outcome.elapsed_s == 8.0


def test_nothing_is_done_between_the_last_invocation_and_the_end() -> None:
    happened: list[str] = []

    def invoke(_: float) -> Outcome:
        happened.append("invoked")
        return Succeeded(values=(1.0,), elapsed_s=0.0, exit_status=0)

    series.in_turn([invoke, invoke], 1.0, lambda: happened.append("between"))
    assert happened == ["invoked", "between", "invoked"]


def test_after_a_failure_nothing_more_is_invoked() -> None:
    failed = Failed(reason="no", output="", elapsed_s=1.0, exit_status=1)
    happened: list[str] = []
    assert series.in_turn([lambda _: failed, lambda _: failed], 9.0, lambda: happened.append("between")) == failed
    assert happened == []
