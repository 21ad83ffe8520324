"""Flags that a re-run measured again are judged one by one, by whoever is there."""

from __future__ import annotations

from orchestrator.contracts.analyses import FlagBatch, RepeatedFlag
from tests.contract.agents import Agent
from tests.contract.stores import StoreUnderTest
from tests.contract.studies import MODES, study, submitted
from tests.contract.test_store_analyses import VERSION, analyse_all, judgements, leased, results

CONFIRMED = {"outcome": "confirmed", "sentence": "again", "n_first": 6, "n_again": 6, "dip_q": 0.01}


def measured(store: StoreUnderTest, agent: Agent) -> tuple[int, int, list[int]]:
    """A campaign, its setting and its analyses, of two configurations."""
    campaign_id = submitted(store, study())
    agent.work_off()
    ids = analyse_all(store)
    store.control.reconcile()
    return campaign_id, store.campaigns.configurations(campaign_id)[0].setting_id, ids


def planned(store: StoreUnderTest) -> tuple[int, list[int], list[RepeatedFlag]]:
    """A re-run of two flagged configurations, its analyses, and what is to be judged."""
    agent = Agent(store)
    _, first_setting, _ = measured(store, agent)
    campaign_id, setting, ids = measured(store, agent)
    flags = [
        RepeatedFlag(setting_id=setting, first_setting_id=first_setting, mode=mode, dip_q=0.01 * place)
        for place, mode in enumerate(MODES[:2])
    ]
    store.flags.plan(campaign_id, flags)
    return campaign_id, ids, flags


def taken(store: StoreUnderTest, campaign_id: int, *, limit: int = 1, lease_s: float = 300.0) -> FlagBatch:
    batch = store.flags.lease(campaign_id, limit=limit, lease_s=lease_s)
    assert batch is not None
    return batch


def test_a_flag_comes_with_both_fits_and_its_dip_q(store: StoreUnderTest) -> None:
    campaign_id, ids, flags = planned(store)
    batch = taken(store, campaign_id, limit=5)
    assert [one.again.id for one in batch.flags] == ids
    assert [one.dip_q for one in batch.flags] == [0.0, 0.01]
    assert {one.again.setting_id for one in batch.flags} == {flags[0].setting_id}
    assert {one.first.setting_id for one in batch.flags} == {flags[0].first_setting_id}
    assert [one.first.mode for one in batch.flags] == [one.again.mode for one in batch.flags] == list(MODES[:2])
    assert all(one.first.selection and one.again.selection and one.again.sample for one in batch.flags)


def test_several_workers_share_the_flags_and_see_when_all_are_judged(store: StoreUnderTest) -> None:
    campaign_id, ids, _ = planned(store)
    one, other = taken(store, campaign_id), taken(store, campaign_id)
    assert {flag.again.id for batch in (one, other) for flag in batch.flags} == set(ids)
    assert store.flags.lease(campaign_id, limit=5) is None
    assert store.flags.store(one, {one.flags[0].again.id: CONFIRMED}) == 1
    assert store.flags.found(campaign_id) is None
    assert store.flags.store(other, {other.flags[0].again.id: None}) == 1, "it cannot be judged, and that is final"
    assert store.flags.found(campaign_id) == {ids[0]: CONFIRMED, ids[1]: None}
    assert store.flags.lease(campaign_id, limit=5) is None


def test_what_a_dead_worker_had_is_soon_anothers(store: StoreUnderTest) -> None:
    campaign_id, ids, _ = planned(store)
    dead = taken(store, campaign_id, limit=2, lease_s=0.0)
    assert store.flags.renew(dead, lease_s=0.0) == 2
    heir = taken(store, campaign_id, limit=2)
    assert store.flags.renew(dead) == 0
    assert store.flags.store(dead, dict.fromkeys(ids)) == 0
    assert store.flags.store(heir, dict.fromkeys(ids)) == 2


def test_progress_tells_how_many_flags_are_judged_until_the_verdicts_are_final(store: StoreUnderTest) -> None:
    campaign_id, ids, _ = planned(store)
    batch = taken(store, campaign_id)
    store.flags.store(batch, {batch.flags[0].again.id: CONFIRMED})
    progress = store.campaigns.progress(campaign_id)
    assert (progress.flags_judged, progress.flags_to_judge) == (1, 2)
    assert store.analyses.judge(campaign_id, VERSION, judgements(ids))
    progress = store.campaigns.progress(campaign_id)
    assert (progress.flags_judged, progress.flags_to_judge) == (0, 0)
    assert store.flags.found(campaign_id) == {}


def test_planning_again_keeps_what_was_judged_of_the_same_question(store: StoreUnderTest) -> None:
    campaign_id, ids, flags = planned(store)
    batch = taken(store, campaign_id, limit=2)
    store.flags.store(batch, dict.fromkeys(ids, CONFIRMED))
    store.flags.plan(campaign_id, flags)
    assert store.flags.found(campaign_id) == dict.fromkeys(ids, CONFIRMED)
    other_q = RepeatedFlag(
        setting_id=flags[1].setting_id, first_setting_id=flags[1].first_setting_id, mode=MODES[1], dip_q=0.5
    )
    store.flags.plan(campaign_id, [flags[0], other_q])
    assert [one.again.id for one in taken(store, campaign_id, limit=2).flags] == [ids[1]]
    store.flags.plan(campaign_id, flags[:1])
    assert store.flags.found(campaign_id) == {ids[0]: CONFIRMED}


def test_a_flag_whose_first_campaign_is_analysed_anew_waits_for_another_plan(store: StoreUnderTest) -> None:
    campaign_id, _, flags = planned(store)
    parent_id = next(one.id for one in store.campaigns.all() if one.id != campaign_id)
    store.versions.make(parent_id, {"max_components": 3}, "they overfit")
    assert store.flags.lease(campaign_id, limit=2) is None
    assert store.flags.found(campaign_id) is None
    again = leased(store)
    store.analyses.store(again, results(again))
    assert store.flags.lease(campaign_id, limit=2) is None, "it was planned with another fit"
    store.flags.plan(campaign_id, flags)
    batch = taken(store, campaign_id, limit=2)
    assert [one.first.id for one in batch.flags] == [one.id for one in again.analyses]
