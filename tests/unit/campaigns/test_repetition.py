"""What a re-run measures, how often, where; and what it says about the flags."""

from __future__ import annotations

from collections import Counter

import pytest

from orchestrator.campaigns import repetition, sizing
from orchestrator.campaigns.sizing import Size
from orchestrator.contracts.campaigns import Campaign, Configuration
from orchestrator.contracts.confirmations import Outcome
from orchestrator.contracts.errors import ConflictError, RequestError
from orchestrator.contracts.jobs import PlannedJob
from orchestrator.design.plan import dealt
from orchestrator.store.memory import MemoryStore
from tests.unit.measured import NODE, STUDY, Laboratory


@pytest.fixture(scope="module")
def measured() -> tuple[Laboratory, Campaign]:
    """A campaign whose readers of 1 MB have two modes, as has its control."""
    laboratory = Laboratory(MemoryStore())
    campaign = laboratory.submit(STUDY.replace("replicates: 60", "replicates: 80"))
    laboratory.work_off()
    return laboratory, campaign


def flagged(laboratory: Laboratory, campaign: Campaign) -> list[Configuration]:
    return laboratory.store.campaigns.configurations(campaign.id, verdict="multimodal")


def test_a_flag_that_comes_back_is_confirmed_with_a_pooled_fit(measured: tuple[Laboratory, Campaign]) -> None:
    laboratory, campaign = measured
    chosen = flagged(laboratory, campaign)
    child, _ = repetition.submit(laboratory.store, campaign.id, chosen, key="the same again")
    laboratory.work_off()
    again = {one.identity: one for one in laboratory.store.campaigns.configurations(child.id)}
    for one in chosen:
        found = again[one.identity].confirmation
        assert found is not None
        assert found.outcome is Outcome.CONFIRMED
        assert found.pooled is not None
        assert found.pooled.n == 160
        assert len(found.pooled.positions) == 2
    others = [one for identity, one in again.items() if identity not in {one.identity for one in chosen}]
    assert others, "all modes of a setting come from one invocation"
    assert {one.confirmation for one in others} == {None}


def test_a_re_run_goes_to_the_nodes_that_measured_it_before(measured: tuple[Laboratory, Campaign]) -> None:
    laboratory, campaign = measured
    chosen = flagged(laboratory, campaign)
    child, _ = repetition.submit(laboratory.store, campaign.id, chosen, key="on the same nodes")
    study = laboratory.store.campaigns.study(child.id)
    assert study.placement == "pinned"
    assert study.study["placement"] == {"kind": "pinned", "nodes": [NODE]}
    other, _ = repetition.submit(laboratory.store, campaign.id, chosen, key="on any nodes", nodes=sizing.ANY)
    assert laboratory.store.campaigns.study(other.id).placement == "any"
    for made in (child, other):
        laboratory.store.campaigns.cancel(made.id)


def test_a_node_that_is_not_known_is_refused(measured: tuple[Laboratory, Campaign]) -> None:
    laboratory, campaign = measured
    with pytest.raises(RequestError, match="'m99' is not known; there are local-1"):
        repetition.submit(laboratory.store, campaign.id, flagged(laboratory, campaign), key="elsewhere", nodes=["m99"])


def test_hours_of_node_time_say_how_many_runs(measured: tuple[Laboratory, Campaign]) -> None:
    laboratory, campaign = measured
    chosen = flagged(laboratory, campaign)
    settings = len({one.setting_id for one in chosen})
    found = sizing.replicates(laboratory.store, campaign.id, chosen, Size(hours=100 * settings * 0.25 / 3600 + 1e-9))
    assert found == 100
    with pytest.raises(ConflictError, match=r"suffice for 10 runs of each .* needs 30"):
        sizing.replicates(laboratory.store, campaign.id, chosen, Size(hours=10 * settings * 0.25 / 3600 + 1e-9))


def test_power_asks_for_fewer_runs_than_there_were_where_modes_lie_far_apart(
    measured: tuple[Laboratory, Campaign],
) -> None:
    laboratory, campaign = measured
    found = sizing.replicates(laboratory.store, campaign.id, flagged(laboratory, campaign), Size(power=0.8))
    assert found is not None
    assert 30 <= found < 80


def test_a_setting_is_measured_once_even_if_several_of_its_modes_are_picked(
    measured: tuple[Laboratory, Campaign],
) -> None:
    laboratory, campaign = measured
    everything = laboratory.store.campaigns.configurations(campaign.id, levels={"file_size_kb": "1024"})
    assert len(everything) == 2
    child, _ = repetition.submit(laboratory.store, campaign.id, everything, key="both modes", size=Size(replicates=30))
    assert child.expected_runs == 30
    laboratory.store.campaigns.cancel(child.id)


def test_jobs_are_dealt_in_the_proportions_of_their_setting() -> None:
    jobs = [
        PlannedJob(setting=place % 3, block=place // 3, position=place, first_replicate=0, replicates=1)
        for place in range(30)
    ]
    found = dealt(jobs, {0: {"a": 50, "b": 50}, 1: {"a": 90, "c": 60}}, seed=3)
    nodes = {setting: Counter(job.node for job in found if job.setting == setting) for setting in range(3)}
    assert nodes[0] == {"a": 5, "b": 5}
    assert nodes[1] == {"a": 6, "c": 4}
    assert nodes[2].total() == 10
    assert found == dealt(jobs, {0: {"a": 50, "b": 50}, 1: {"a": 90, "c": 60}}, seed=3)
