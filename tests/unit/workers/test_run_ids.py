"""Ids of runs are in the order of time, and never the same."""

from __future__ import annotations

import pytest

from workers import run_ids


def test_ids_of_the_same_millisecond_differ_and_are_of_version_7(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_ids.time, "time_ns", lambda: 1_700_000_000_123_456_789)
    ids = {run_ids.run_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert {(one.version, one.variant, one.int >> 80) for one in ids} == {
        (7, "specified in RFC 4122", 1_700_000_000_123)
    }


def test_a_later_id_is_greater(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([1_700_000_000_000_000_000, 1_700_000_000_001_000_000])
    monkeypatch.setattr(run_ids.time, "time_ns", lambda: next(times))
    assert run_ids.run_id() < run_ids.run_id()
