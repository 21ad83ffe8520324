"""An adaptive campaign: a pilot, then every setting as often as its fits ask for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.contracts.campaigns import State
from orchestrator.contracts.rounds import Growth
from orchestrator.design import study
from orchestrator.design.submission import submission
from orchestrator.store.memory import MemoryStore
from tests.unit.measured import STUDY, Laboratory
from workers import growing

ADAPTIVE = STUDY.replace("replicates: 60\nreplicates_per_job: 30\n", "adaptive: {pilot: 30, max: 300}\n")


def measured(text: str) -> tuple[MemoryStore, int]:
    """Until it has ended. Time stands still: while fits are compiled first, a node would be taken for offline."""
    store = MemoryStore(lambda: 1.7e9)
    laboratory = Laboratory(store)
    campaign = laboratory.submit(text)
    for _ in range(20):
        laboratory.work_off()
        if store.campaigns.get(campaign.id).state is not State.RUNNING:
            laboratory.work_off()
            return store, campaign.id
    raise AssertionError(f"still growing: {store.rounds.of_campaign(campaign.id)}")


def test_every_setting_ends_at_its_target_or_the_maximum() -> None:
    store, campaign_id = measured(ADAPTIVE)
    found = store.campaigns.configurations(campaign_id)
    runs = {one.setting_id: one.valid_runs for one in found}
    assert len(set(runs.values())) > 1, "no two alike, or there was nothing to adapt to"
    for setting_id, made in runs.items():
        needed = max(one.needed_runs or 0 for one in found if one.setting_id == setting_id)
        assert made == 300 or needed <= made
    assert store.campaigns.get(campaign_id).state is State.COMPLETE
    assert all(one.final for one in found)


def test_the_last_round_says_why_nothing_goes_on() -> None:
    store, campaign_id = measured(ADAPTIVE)
    rounds = store.rounds.of_campaign(campaign_id)
    assert [one.number for one in rounds] == list(range(1, len(rounds) + 1))
    assert rounds[-1].settings == 0
    assert sum(map(int, map(str, rounds[-1].record.values()))) == 3, "two settings and a control"


def test_a_target_that_the_pilot_meets_ends_with_the_pilot() -> None:
    store, campaign_id = measured(ADAPTIVE.replace("max: 300", "max: 300, target: 0.9"))
    assert {one.valid_runs for one in store.campaigns.configurations(campaign_id)} == {30}
    assert [one.settings for one in store.rounds.of_campaign(campaign_id)] == [0]


def test_what_is_hard_ends_at_the_maximum() -> None:
    store, campaign_id = measured(ADAPTIVE.replace("max: 300", "max: 45, target: 0.001"))
    assert {one.valid_runs for one in store.campaigns.configurations(campaign_id)} == {45}
    assert store.rounds.of_campaign(campaign_id)[-1].record["at_max"] == 3


def test_a_round_of_an_unknown_policy_waits_for_a_worker_that_knows_it(caplog: pytest.LogCaptureFixture) -> None:
    store = MemoryStore()
    laboratory = Laboratory(store)
    planned = submission(study.load(ADAPTIVE, where="study.yaml"))
    newer = Growth(policy="of a newer version", options={}, replicates_per_job=6)
    campaign, _ = store.campaigns.submit(replace(planned, growth=newer))
    laboratory.work_off()
    assert growing.decide(store) == 0
    assert "does not know" in caplog.text
    assert store.campaigns.get(campaign.id).state is State.RUNNING
