"""What an adaptive campaign has come to."""

from __future__ import annotations

import pytest

from orchestrator import words
from orchestrator.campaigns.adaptation import adaptation
from orchestrator.campaigns.repetition import AS_BEFORE
from orchestrator.campaigns.sizing import replicates
from orchestrator.contracts.campaigns import State
from orchestrator.contracts.errors import ConflictError
from orchestrator.store.memory import MemoryStore
from tests.unit.measured import STUDY, Laboratory

ADAPTIVE = STUDY.replace("replicates: 60\nreplicates_per_job: 30\n", "adaptive: {pilot: 30, target: 0.1, max: 90}\n")


@pytest.fixture(scope="module")
def measured() -> tuple[MemoryStore, int]:
    """An adaptive campaign at its end; time stands still, however long fits take."""
    store = MemoryStore(lambda: 1.7e9)
    laboratory = Laboratory(store)
    campaign = laboratory.submit(ADAPTIVE)
    while store.campaigns.get(campaign.id).state is State.RUNNING:
        laboratory.work_off()
    laboratory.work_off()
    return store, campaign.id


def test_it_counts_the_runs_it_saved_and_the_precision_it_reached(measured: tuple[MemoryStore, int]) -> None:
    store, campaign_id = measured
    found = adaptation(store, campaign_id)
    shown = [one for one in store.campaigns.configurations(campaign_id) if one.control is None]
    assert (found.over, found.settings, found.configurations) == (True, 2, 4)
    assert found.runs == sum({one.setting_id: one.valid_runs for one in shown}.values())
    assert found.saved_runs == 2 * 150 - found.runs > 0
    assert found.met == sum((one.needed_runs or 0) <= one.valid_runs for one in shown)
    assert found.reached_worst == max(one.reached or 0 for one in shown)


def test_it_is_told_in_sentences(measured: tuple[MemoryStore, int]) -> None:
    store, campaign_id = measured
    found = adaptation(store, campaign_id)
    first, precision, saved = words.adaptation(found)
    assert first == f"Adaptive: {words.counted(len(found.rounds), 'round')}, from a pilot of 30."
    assert f"{found.met} of 4 configurations meet the target" in precision
    assert f"{found.saved_runs} fewer than 150 of every setting" in saved


def test_what_is_not_adaptive_has_no_such_account(measured: tuple[MemoryStore, int]) -> None:
    laboratory = Laboratory(MemoryStore())
    campaign = laboratory.submit()
    with pytest.raises(ConflictError, match="is not adaptive"):
        adaptation(laboratory.store, campaign.id)


def test_a_rerun_of_what_grew_is_as_large_as_it_had_become(measured: tuple[MemoryStore, int]) -> None:
    store, campaign_id = measured
    found = store.campaigns.configurations(campaign_id)
    assert replicates(store, campaign_id, found, AS_BEFORE) == max(one.replicates for one in found) > 30
