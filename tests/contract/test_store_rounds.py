"""A campaign that grows goes on in rounds: measured, analysed, decided, until nothing is left to be measured."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import pytest

from orchestrator.contracts.campaigns import EventKind, State, Submission
from orchestrator.contracts.jobs import Assignment, FailureKind
from orchestrator.contracts.rounds import Decision, Due, Growth
from tests.contract.agents import Agent
from tests.contract.stores import StoreUnderTest
from tests.contract.studies import jobs, study, submitted
from tests.contract.test_store_analyses import VERSION, leased, results

GROWTH = Growth(policy="adaptive", options={"max": 9}, replicates_per_job=2, randomised=True, seed=7)


def growing(*, settings: int = 3, growth: Growth = GROWTH, **options: str) -> Submission:
    return replace(study(settings=settings, replicates=2, **options), growth=growth)  # type: ignore[arg-type]


def decision(store: StoreUnderTest, campaign_id: int, *replicates: int, number: int = 1) -> Decision:
    """As many runs of each setting in order; 0: no more of it."""
    ids = sorted({one.setting_id for one in store.campaigns.configurations(campaign_id)})
    wanted = {setting: runs for setting, runs in zip(ids, replicates, strict=False) if runs}
    return Decision(number=number, replicates=wanted, record={"met": replicates.count(0)})


def analyse(store: StoreUnderTest) -> None:
    """Everything that is due."""
    batch = leased(store)
    assert store.analyses.store(batch, results(batch)) == len(batch.analyses)


def after_a_round(store: StoreUnderTest, agent: Agent, submission: Submission) -> int:
    campaign_id = submitted(store, submission)
    agent.work_off()
    analyse(store)
    return campaign_id


def test_a_round_is_due_when_all_of_it_is_measured_and_analysed(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, growing())
    assert store.rounds.due() == []
    agent.work()
    analyse(store)
    assert store.rounds.due() == [], "others are not measured yet"
    agent.work_off()
    assert store.rounds.due() == [], "not analysed yet"
    batch = leased(store)
    assert store.rounds.due() == []
    store.analyses.store(batch, results(batch))
    assert store.rounds.due() == [Due(campaign_id=campaign_id, number=1)]
    assert store.control.analysis_due()


def test_a_campaign_that_does_not_grow_has_no_rounds(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = after_a_round(store, agent, study(replicates=2))
    assert store.rounds.due() == []
    assert not store.rounds.decide(campaign_id, decision(store, campaign_id, 4))
    assert store.rounds.of_campaign(campaign_id) == []


def test_it_does_not_end_before_it_has_grown_enough(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = after_a_round(store, agent, growing())
    store.control.reconcile()
    assert store.campaigns.get(campaign_id).state is State.RUNNING
    assert store.rounds.decide(campaign_id, decision(store, campaign_id))
    store.control.reconcile()
    assert store.campaigns.get(campaign_id).state is State.COMPLETE
    assert store.rounds.due() == []
    assert store.analyses.unjudged(VERSION) == [campaign_id]


def test_settings_end_with_different_numbers_of_runs(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = after_a_round(store, agent, growing())
    assert store.rounds.decide(campaign_id, decision(store, campaign_id, 7, 0, 3))
    shown = store.campaigns.get(campaign_id)
    assert (shown.state, shown.expected_runs, shown.replicates) == (State.RUNNING, 12, 2)
    assert store.campaigns.design(campaign_id).run_count(shown.replicates) == 12
    agent.work_off()
    analyse(store)
    assert store.rounds.due() == [Due(campaign_id=campaign_id, number=2)]
    assert store.rounds.decide(campaign_id, decision(store, campaign_id, number=2))
    store.control.reconcile()
    assert store.campaigns.get(campaign_id).state is State.COMPLETE
    found = store.campaigns.configurations(campaign_id)
    assert [(one.valid_runs, one.replicates) for one in found[::2]] == [(7, 7), (2, 2), (3, 3)]
    samples = [len(one.sample) for one in store.analyses.fitted(campaign_id)]
    assert samples[::2] == [7, 2, 3]


def cut_short(store: StoreUnderTest, agent: Agent) -> tuple[int, Assignment]:
    """A campaign that is cancelled while a job of its second round is held, and the job, of which one run is there."""
    campaign_id = after_a_round(store, agent, growing(settings=1))
    assert store.rounds.decide(campaign_id, decision(store, campaign_id, 6))
    job = agent.take()
    agent.record(agent.run(job, job.pending[0]))
    store.campaigns.cancel(campaign_id)
    return campaign_id, job


def analysed(store: StoreUnderTest, campaign_id: int) -> set[int]:
    """How many runs the fits that are shown are of."""
    return {len(one.sample) for one in store.analyses.fitted(campaign_id)}


def test_what_was_measured_of_a_round_that_is_cancelled_is_analysed(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id, job = cut_short(store, agent)
    assert store.analyses.unjudged(VERSION) == []
    assert analysed(store, campaign_id) == set(), "the fit of the round before is not shown beside more runs"
    assert {len(one.sample) for one in leased(store, lease_s=0.0).analyses} == {3}
    analyse(store)
    assert analysed(store, campaign_id) == {3}
    assert store.analyses.unjudged(VERSION) == [campaign_id]
    agent.record(agent.run(job, job.pending[1]))
    assert {len(one.sample) for one in leased(store).analyses} == {4}, "a run that was in flight came home"


def test_another_version_of_its_analysis_is_of_the_same_runs(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id, _ = cut_short(store, agent)
    analyse(store)
    store.versions.make(campaign_id, {"max_components": 3}, "they overfit")
    analyse(store)
    assert analysed(store, campaign_id) == {3}


def test_a_pilot_that_was_cut_short_is_not_analysed(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, growing(settings=1))
    job = agent.take()
    agent.record(agent.run(job, job.pending[0]))
    store.campaigns.cancel(campaign_id)
    assert store.analyses.lease(VERSION) is None


def test_only_a_sample_that_grew_is_analysed_again(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = after_a_round(store, agent, growing())
    store.rounds.decide(campaign_id, decision(store, campaign_id, 4))
    agent.work_off()
    batch = leased(store)
    assert {one.setting_id for one in batch.analyses} == {store.campaigns.configurations(campaign_id)[0].setting_id}
    store.analyses.store(batch, results(batch))
    assert store.campaigns.progress(campaign_id).analyses_done == 6


def test_the_jobs_of_a_round_are_blocks_in_an_order_of_their_own(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = after_a_round(store, agent, growing(settings=6))
    store.rounds.decide(campaign_id, decision(store, campaign_id, 9, 9, 9, 9, 9, 3))
    added = [job for job in store.jobs.of_campaign(campaign_id) if job.block > 0]
    assert [job.position for job in added] == list(range(6, 6 + len(added)))
    blocks = defaultdict(list)
    for job in added:
        blocks[job.block].append(job)
    assert {block: len(of_block) for block, of_block in blocks.items()} == {1: 6, 2: 5, 3: 5, 4: 5}
    orders = [[job.ordinal for job in of_block if job.ordinal < 5] for of_block in blocks.values()]
    assert orders[0] != orders[1]
    first = [(job.first_replicate, job.replicates) for job in added if job.ordinal == 0]
    assert first == [(2, 2), (4, 2), (6, 2), (8, 1)]
    assert [(job.first_replicate, job.replicates) for job in added if job.ordinal == 5] == [(2, 1)]


def test_the_order_of_a_round_is_the_same_wherever_it_is_planned(store: StoreUnderTest) -> None:
    campaign_id = after_a_round(store, Agent(store), growing(settings=6))
    store.rounds.decide(campaign_id, decision(store, campaign_id, 3, 3, 3, 3, 3, 3))
    assert [job.ordinal for job in store.jobs.of_campaign(campaign_id) if job.block > 0] == [0, 5, 4, 1, 3, 2]


def test_a_study_that_is_measured_as_listed_grows_as_listed(store: StoreUnderTest) -> None:
    campaign_id = after_a_round(store, Agent(store), growing(growth=replace(GROWTH, randomised=False)))
    store.rounds.decide(campaign_id, decision(store, campaign_id, 4, 4, 4))
    assert [job.ordinal for job in store.jobs.of_campaign(campaign_id) if job.block > 0] == [0, 1, 2]


@pytest.mark.parametrize("placement", ["pinned", "balanced"])
def test_a_setting_that_is_pinned_stays_on_its_node(store: StoreUnderTest, placement: str) -> None:
    agents = [Agent(store, "n1"), Agent(store, "n2")]
    submission = replace(study(settings=2, replicates=2, placement=placement, nodes=["n1", "n2"]), growth=GROWTH)
    campaign_id = submitted(store, submission)
    for agent in agents * 2:
        agent.work_off()
    analyse(store)
    store.rounds.decide(campaign_id, decision(store, campaign_id, 4, 4))
    own = {job.ordinal: job.own for job in store.jobs.of_campaign(campaign_id) if job.block > 0}
    assert own == ({0: "n1", 1: "n2"} if placement == "pinned" else {0: None, 1: None})


def test_a_round_is_decided_once(store: StoreUnderTest) -> None:
    campaign_id = after_a_round(store, Agent(store), growing())
    first = decision(store, campaign_id, 4)
    assert store.rounds.decide(campaign_id, first)
    assert not store.rounds.decide(campaign_id, first)
    assert not store.rounds.decide(campaign_id, replace(first, number=2)), "what it asked for is not measured yet"
    assert store.campaigns.get(campaign_id).expected_runs == 8
    assert jobs(store, campaign_id)["queued"] == 1


def test_a_sample_that_came_in_meanwhile_is_looked_at_in_the_next_round(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, growing(settings=2))
    late = agent.take()
    for attempt in range(3):  # in vain, and set aside: it comes home later
        assert agent.fail(late, FailureKind.ENGINE)
        late = agent.take() if attempt < 2 else late
        while late.setting_id != min(one.setting_id for one in store.campaigns.configurations(campaign_id)):
            agent.measure(late)
            agent.finish(late)
            late = agent.take()
    agent.work_off()
    analyse(store)
    assert store.rounds.decide(campaign_id, decision(store, campaign_id, 0, 4))
    agent.measure(late)
    assert store.rounds.due() == []
    agent.work_off()
    analyse(store)
    assert store.rounds.due() == [Due(campaign_id=campaign_id, number=2)]


def test_what_was_given_up_does_not_hold_a_round_up(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, growing(settings=2))
    agent.work()
    store.campaigns.give_up(campaign_id, "no node left")
    analyse(store)
    assert store.rounds.decide(campaign_id, decision(store, campaign_id))
    store.control.reconcile()
    shown = store.campaigns.get(campaign_id)
    assert (shown.state, shown.missing) == (State.INCOMPLETE, {"no node left": 2})


def test_what_is_cancelled_grows_no_more(store: StoreUnderTest) -> None:
    campaign_id = after_a_round(store, Agent(store), growing())
    store.campaigns.cancel(campaign_id)
    assert store.rounds.due() == []
    assert not store.rounds.decide(campaign_id, decision(store, campaign_id, 4))


def test_rounds_are_kept_and_told(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = after_a_round(store, agent, growing())
    store.rounds.decide(campaign_id, decision(store, campaign_id, 5, 4, 0))
    agent.work_off()
    analyse(store)
    store.rounds.decide(campaign_id, decision(store, campaign_id, 0, 0, 0, number=2))
    first, second = store.rounds.of_campaign(campaign_id)
    assert (first.number, first.settings, first.runs, first.record) == (1, 2, 5, {"met": 1})
    assert (second.number, second.settings, second.runs, second.record) == (2, 0, 0, {"met": 3})
    assert first.decided_at <= second.decided_at
    told = [one.message for one in store.campaigns.events(campaign_id) if one.kind is EventKind.CAMPAIGN_ROUND]
    assert told == ["round 2 was the last", "round 1: 5 more runs of 2 of 3 settings"]


def test_settings_may_begin_without_any_run(store: StoreUnderTest) -> None:
    """As a policy needs that chooses what to measure at all."""
    agent = Agent(store)
    whole = growing(settings=2)
    first, second = whole.design.settings
    design = replace(whole.design, settings=(first, replace(second, replicates=0)))
    campaign_id = submitted(store, replace(whole, design=design, jobs=whole.jobs[:1]))
    agent.work_off()
    analyse(store)
    assert store.campaigns.get(campaign_id).expected_runs == 2
    assert store.rounds.decide(campaign_id, decision(store, campaign_id, 0, 3))
    agent.work_off()
    analyse(store)
    assert [one.valid_runs for one in store.campaigns.configurations(campaign_id)[::2]] == [2, 3]


def test_a_campaign_says_how_it_grows_and_its_analyses_what_they_ask_for(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, growing(settings=1))
    assert store.campaigns.study(campaign_id).growth == GROWTH
    agent.work_off()
    batch = leased(store)
    store.analyses.store(batch, [replace(one, needed_runs=8) for one in results(batch)])
    shown = store.campaigns.configurations(campaign_id)[0]
    assert (shown.needed_runs, shown.reached) == (8, 2.0)
