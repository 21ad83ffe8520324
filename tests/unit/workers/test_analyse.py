"""The analysis worker and its lease."""

from __future__ import annotations

import threading

import pytest

from analysis import mixture
from orchestrator.contracts.analyses import Batch
from orchestrator.store import rules
from orchestrator.store.memory import MemoryStore
from tests.unit.measured import Laboratory

LONGEST_WAIT_S = 30.0


def test_a_batch_is_held_however_long_its_fits_take(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    laboratory = Laboratory(store)
    campaign = laboratory.submit()
    renewed = threading.Event()
    renew, select_many = store.analyses.renew, mixture.select_many

    def heard(batch: Batch) -> int:
        held = renew(batch)
        renewed.set()
        return held

    def slow(*given: object, **named: object) -> object:
        assert renewed.wait(LONGEST_WAIT_S), "nobody renewed the lease of the batch"
        return select_many(*given, **named)  # type: ignore[arg-type]  # whatever we were called with

    monkeypatch.setattr(rules, "ANALYSIS_LEASE_S", 0.03)
    monkeypatch.setattr(store.analyses, "renew", heard)
    monkeypatch.setattr(mixture, "select_many", slow)
    laboratory.work_off()
    assert all(one.verdict for one in store.campaigns.configurations(campaign.id))
