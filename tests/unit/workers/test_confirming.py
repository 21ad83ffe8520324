"""Flags of a re-run are judged a few at a time, by whoever is there."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import pytest

from orchestrator import words
from orchestrator.contracts.analyses import FlagBatch
from orchestrator.contracts.errors import UnavailableError
from orchestrator.store.memory import MemoryStore
from orchestrator.store.rules import ANALYSIS_LEASE_S
from tests.unit.measured import Laboratory
from workers import analyse, confirming
from workers.analyse import Analyst


@pytest.fixture(autouse=True)
def _one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analyse, "FLAGS", 1)


def measured_again(store: MemoryStore) -> int:
    """A re-run whose runs are all there, and not analysed."""
    laboratory = Laboratory(store)
    parent = laboratory.submit()
    laboratory.work_off()
    child = laboratory.rerun_flagged(parent.id)
    while laboratory.work():
        pass
    store.control.reconcile()
    return child.id


def test_a_worker_that_leaves_keeps_what_it_judged_and_the_next_goes_on_where_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = MemoryStore()
    child_id = measured_again(store)
    first, second = Analyst(store), Analyst(store)
    judged: list[int] = []
    confirm = confirming.confirm

    def watched(batch: FlagBatch, **named: Any) -> Mapping[int, Mapping[str, Any] | None]:
        first.leave()
        judged.extend(one.again.id for one in batch.flags)
        return confirm(batch, **named)

    monkeypatch.setattr(confirming, "confirm", watched)
    first.work()
    progress = store.campaigns.progress(child_id)
    total = progress.flags_to_judge
    assert (progress.flags_judged, progress.verdicts_final) == (1, False)
    assert words.judging(progress) == f"judged 1/{total} flags by their new runs"
    second.work()
    assert store.campaigns.progress(child_id).verdicts_final
    assert len(judged) == len(set(judged)) == total > 1
    found = store.campaigns.configurations(child_id)
    assert sum(one.confirmation is not None for one in found) == total


def test_what_a_worker_had_that_was_cut_off_is_judged_by_another(monkeypatch: pytest.MonkeyPatch) -> None:
    ahead_s = 0.0
    store = MemoryStore(lambda: time.time() + ahead_s)
    child_id = measured_again(store)

    def away(batch: FlagBatch, **named: object) -> None:
        raise UnavailableError

    with monkeypatch.context() as patched:
        patched.setattr(confirming, "confirm", away)
        Analyst(store).work()
    Analyst(store).work()
    progress = store.campaigns.progress(child_id)
    assert (progress.flags_to_judge - progress.flags_judged, progress.verdicts_final) == (1, False)
    ahead_s = ANALYSIS_LEASE_S + 1
    Analyst(store).work()
    assert store.campaigns.progress(child_id).verdicts_final
