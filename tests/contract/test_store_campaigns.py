"""Studies as submitted: once, whole, and under control."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from orchestrator.contracts.campaigns import State
from orchestrator.contracts.errors import ConflictError, NotFoundError
from tests.contract.agents import Agent
from tests.contract.stores import StoreUnderTest
from tests.contract.studies import jobs, study, submitted

NOBODY = 4711


def test_a_study_is_stored_with_all_that_it_asks_for(store: StoreUnderTest) -> None:
    campaign, new = store.campaigns.submit(study(settings=2, replicates=3, per_job=2, control=True))
    assert new
    assert (campaign.state, campaign.paused, campaign.ended_at) == (State.RUNNING, False, None)
    assert (campaign.settings, campaign.configurations, campaign.replicates) == (3, 5, 3)
    assert campaign.expected_runs == 9
    assert jobs(store, campaign.id) == {"queued": 6}
    assert store.campaigns.get(campaign.id) == campaign


def test_what_was_submitted_can_be_asked_for_again(store: StoreUnderTest) -> None:
    submission = study(settings=2, control=True, key="k")
    campaign_id = submitted(store, submission)
    kept = store.campaigns.study(campaign_id)
    assert kept.jobs == ()
    assert kept.design == store.campaigns.design(campaign_id) == submission.design
    assert (kept.name, kept.study, kept.controls) == (submission.name, submission.study, submission.controls)
    assert (kept.replicates, kept.engine, kept.placement) == (1, "builtin", "any")
    assert (kept.node_options, kept.analysis_options) == (submission.node_options, submission.analysis_options)
    assert (kept.digest, kept.idempotency_key, kept.max_tries) == ("a digest", "k", 3)


def test_levels_keep_their_type(store: StoreUnderTest) -> None:
    campaign_id = submitted(store, study())
    levels = store.campaigns.design(campaign_id).settings[0].levels
    assert [type(level) for level in levels] == [int, float, str]


def test_the_same_study_under_the_same_key_is_the_first_campaign(store: StoreUnderTest) -> None:
    first = submitted(store, study(key="k"))
    campaign, new = store.campaigns.submit(study(key="k"))
    assert (campaign.id, new) == (first, False)
    assert len(store.campaigns.all()) == 1


def test_another_study_under_the_same_key_is_a_conflict(store: StoreUnderTest) -> None:
    submitted(store, study(key="k"))
    with pytest.raises(ConflictError):
        store.campaigns.submit(study(key="k", digest="another"))
    assert len(store.campaigns.all()) == 1


def test_without_a_key_every_submission_is_a_campaign(store: StoreUnderTest) -> None:
    assert submitted(store, study()) != submitted(store, study())


def test_campaigns_are_listed_newest_first(store: StoreUnderTest) -> None:
    ids = [submitted(store, study()) for _ in range(3)]
    assert [campaign.id for campaign in store.campaigns.all()] == ids[::-1]


def test_a_refused_submission_leaves_nothing(store: StoreUnderTest) -> None:
    good = study()
    twice_at_one_position = replace(good, jobs=[*good.jobs, *good.jobs])
    with pytest.raises(ConflictError):
        store.campaigns.submit(twice_at_one_position)
    assert store.campaigns.all() == []


def test_a_rerun_names_its_parent(store: StoreUnderTest) -> None:
    first = submitted(store, study())
    again = submitted(store, study(parent=first))
    assert store.campaigns.get(again).parent_id == first


def test_a_rerun_of_nothing_is_refused(store: StoreUnderTest) -> None:
    with pytest.raises(ConflictError):
        store.campaigns.submit(study(parent=NOBODY))
    assert store.campaigns.all() == []


QUESTIONS: dict[str, Callable[[StoreUnderTest], object]] = {
    "get": lambda store: store.campaigns.get(NOBODY),
    "study": lambda store: store.campaigns.study(NOBODY),
    "design": lambda store: store.campaigns.design(NOBODY),
    "progress": lambda store: store.campaigns.progress(NOBODY),
    "pause": lambda store: store.campaigns.pause(NOBODY),
    "resume": lambda store: store.campaigns.resume(NOBODY),
    "cancel": lambda store: store.campaigns.cancel(NOBODY),
    "configurations": lambda store: store.campaigns.configurations(NOBODY),
    "export": lambda store: list(store.campaigns.export(NOBODY)),
    "invalid_reasons": lambda store: store.campaigns.invalid_reasons(NOBODY),
}


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS.keys())
def test_a_campaign_that_is_not_there_is_not_found(
    store: StoreUnderTest, question: Callable[[StoreUnderTest], object]
) -> None:
    with pytest.raises(NotFoundError):
        question(store)


def test_of_a_paused_campaign_nothing_is_offered_or_claimed(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=3))
    offers = store.control.dispatch()
    assert store.campaigns.pause(campaign_id).paused
    assert [agent.claim(offer.job_id) for offer in offers] == [None, None]
    assert store.control.dispatch() == []


def test_a_paused_campaign_takes_no_place_on_a_node(store: StoreUnderTest) -> None:
    Agent(store)
    paused = submitted(store, study(settings=3))
    store.control.dispatch()
    store.campaigns.pause(paused)
    assert jobs(store, paused) == {"queued": 3}
    other = submitted(store, study(settings=3))
    store.control.dispatch()
    assert jobs(store, other) == {"offered": 2, "queued": 1}


def test_a_paused_campaign_goes_on_when_resumed(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    store.campaigns.pause(campaign_id)
    assert not store.campaigns.resume(campaign_id).paused
    agent.work_off()
    assert store.campaigns.get(campaign_id).state is State.COMPLETE


def test_pause_leaves_the_holder_its_job_and_asks_it_to_stop(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    job = agent.take()
    store.campaigns.pause(campaign_id)
    answer = store.jobs.renew(job.job_id, job.token)
    assert (answer.granted, answer.stop) == (True, "pause")
    assert jobs(store, campaign_id) == {"leased": 1}


def test_cancelling_takes_back_every_open_job(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=4))
    job = agent.take()
    cancelled = store.campaigns.cancel(campaign_id)
    assert cancelled.state is State.CANCELLED
    assert cancelled.ended_at is not None
    assert jobs(store, campaign_id) == {"cancelled": 4}
    answer = store.jobs.renew(job.job_id, job.token)
    assert (answer.granted, answer.stop) == (False, "cancel")
    assert not agent.finish(job)


def test_cancelling_keeps_the_runs_made_so_far_and_those_still_to_come(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(replicates=2))
    job = agent.take()
    agent.measure(job, only=1)
    store.campaigns.cancel(campaign_id)
    late = agent.run(job, job.pending[1])
    assert agent.record(late).valid == (late.id,)
    assert store.campaigns.progress(campaign_id).valid_runs == 2
    assert store.campaigns.get(campaign_id).state is State.CANCELLED


def test_cancelling_twice_is_cancelling_once(store: StoreUnderTest) -> None:
    campaign_id = submitted(store, study())
    assert store.campaigns.cancel(campaign_id) == store.campaigns.cancel(campaign_id)


def test_a_cancelled_campaign_leaves_its_node_free_for_others(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=3))
    agent.take()
    store.campaigns.cancel(campaign_id)
    other = submitted(store, study())
    agent.work()
    assert jobs(store, other) == {"done": 1}


@pytest.mark.parametrize("act", ["pause", "resume", "cancel"])
def test_a_campaign_that_is_complete_can_no_longer_be_changed(store: StoreUnderTest, act: str) -> None:
    campaign_id = submitted(store, study())
    Agent(store).work_off()
    with pytest.raises(ConflictError):
        getattr(store.campaigns, act)(campaign_id)
    assert store.campaigns.get(campaign_id).state is State.COMPLETE


def test_a_campaign_with_canaries_says_so_wherever_it_is_listed(store: StoreUnderTest) -> None:
    watched = replace(study(), study={"name": "watched", "canaries": {"times": 5}})
    campaign_id = submitted(store, watched)
    plain = submitted(store, study())
    assert store.campaigns.get(campaign_id).has_canaries
    assert not store.campaigns.get(plain).has_canaries
    assert [one.has_canaries for one in store.campaigns.all()] == [False, True]
    assert [one.campaign.has_canaries for one in store.overviews.campaigns()] == [False, True]
