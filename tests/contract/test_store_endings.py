"""How a job is given back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import uuid4

import pytest

from orchestrator.contracts.campaigns import State, Submission
from orchestrator.contracts.designs import Design
from orchestrator.contracts.jobs import Assignment, Ending, FailureKind
from tests.contract.agents import Agent
from tests.contract.stores import StoreUnderTest
from tests.contract.studies import jobs, study, submitted


def test_a_job_with_all_its_runs_is_done(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(replicates=2))
    job = agent.take()
    agent.measure(job)
    assert agent.finish(job)
    assert jobs(store, campaign_id) == {"done": 1}
    assert agent.shown().job_id is None


def test_a_job_is_not_done_as_long_as_a_replicate_is_missing(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(replicates=2))
    job = agent.take()
    agent.measure(job, only=1)
    assert agent.finish(job, Ending.COMPLETE)
    assert jobs(store, campaign_id) == {"queued": 1}


def test_invalid_runs_do_not_complete_a_job(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    job = agent.take()
    agent.record(agent.run(job, valid=False))
    agent.finish(job)
    assert jobs(store, campaign_id) == {"queued": 1}


def test_a_released_job_waits_for_the_next(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    assert agent.finish(agent.take(), Ending.RELEASE)
    assert jobs(store, campaign_id) == {"queued": 1}
    assert store.jobs.held_by(agent.node) == []


def test_releasing_never_counts_against_a_job(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    for _ in range(5):
        agent.finish(agent.take(), Ending.RELEASE)
    assert jobs(store, campaign_id) == {"queued": 1}


@pytest.mark.parametrize("ending", list(Ending))
def test_a_wrong_token_changes_nothing(store: StoreUnderTest, ending: Ending) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    job = agent.take()
    agent.measure(job)
    assert not store.jobs.finish(job.job_id, uuid4(), ending)
    assert jobs(store, campaign_id) == {"leased": 1}


def test_a_job_is_given_back_once(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=2))
    job = agent.take()
    assert agent.finish(job, Ending.RELEASE)
    assert not agent.finish(job, Ending.RELEASE)
    assert not agent.fail(job, FailureKind.ENGINE)
    assert not store.jobs.finish(job.job_id + 1000, job.token, Ending.RELEASE)
    assert jobs(store, campaign_id)["leased"] == 0


def _restart(store: StoreUnderTest, agent: Agent, _: Assignment) -> None:
    again = Agent(store, agent.node)
    store.jobs.release_node(again.node, again.session)


def _expire(store: StoreUnderTest, _: Agent, __: Assignment) -> None:
    store.expire_leases()
    store.control.reconcile()


WAYS_TO_END: dict[str, Callable[[StoreUnderTest, Agent, Assignment], object]] = {
    "released": lambda _, agent, job: agent.finish(job, Ending.RELEASE),
    "failed": lambda _, agent, job: agent.fail(job, FailureKind.ENGINE),
    "failed by the node": lambda _, agent, job: agent.fail(job, FailureKind.NODE),
    "refused": lambda _, agent, job: agent.fail(job, FailureKind.STUDY),
    "agent restarted": _restart,
    "lease expired": _expire,
}


@pytest.mark.parametrize("end", WAYS_TO_END.values(), ids=WAYS_TO_END.keys())
def test_a_job_that_has_all_its_runs_is_done_however_it_ends(
    store: StoreUnderTest, end: Callable[[StoreUnderTest, Agent, Assignment], object]
) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(replicates=2))
    job = agent.take()
    agent.measure(job)
    end(store, agent, job)
    assert jobs(store, campaign_id) == {"done": 1}


def test_what_a_node_holds_is_known_to_its_next_session(store: StoreUnderTest) -> None:
    before = Agent(store)
    campaign_id = submitted(store, study(settings=2))
    job = before.take()
    after = Agent(store)
    assert store.jobs.held_by("n1") == [job.job_id]
    assert store.jobs.release_node("n1", after.session) == [job.job_id]
    assert store.jobs.held_by("n1") == []
    assert jobs(store, campaign_id)["leased"] == 0
    assert not before.finish(job)


def test_a_session_does_not_release_what_it_holds_itself(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study())
    job = agent.take()
    assert store.jobs.release_node("n1", agent.session) == []
    assert store.jobs.held_by("n1") == [job.job_id]


def test_one_node_does_not_release_what_another_holds(store: StoreUnderTest) -> None:
    agent = Agent(store, "n1")
    submitted(store, study())
    job = agent.take()
    other = Agent(store, "n2")
    assert store.jobs.release_node("n2", other.session) == []
    assert store.jobs.held_by("n1") == [job.job_id]
    assert store.jobs.held_by("a node nobody knows") == []


def of_unequal_size() -> Submission:
    """Two settings, of one replicate and of two."""
    planned = study(settings=2, replicates=2, per_job=1)
    small = replace(planned.design.settings[0], replicates=1)
    design = Design(factors=planned.design.factors, settings=(small, planned.design.settings[1]))
    jobs_of = [job for job in planned.jobs if (job.setting, job.block) != (0, 1)]
    return replace(planned, design=design, jobs=jobs_of)


def test_a_setting_may_have_fewer_replicates_than_its_campaign(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, of_unequal_size())
    assert store.campaigns.get(campaign_id).expected_runs == 3
    assert [setting.replicates for setting in store.campaigns.design(campaign_id).settings] == [1, None]
    agent.work_off()
    assert store.campaigns.get(campaign_id).state is State.COMPLETE
    assert store.overviews.family(campaign_id)[0].campaign.expected_runs == 3
    assert [one.replicates for one in store.campaigns.configurations(campaign_id)] == [1, 1, 2, 2]
    batch = store.analyses.lease("v1")
    assert batch is not None
    assert sorted(len(one.sample) for one in batch.analyses) == [1, 1, 2, 2]


def test_what_is_given_up_ends_its_campaign_incomplete(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=3))
    held = agent.take()
    assert store.campaigns.give_up(campaign_id, "not in the bundle") == 2
    assert jobs(store, campaign_id) == {"leased": 1, "set_aside": 2}
    agent.measure(held)
    agent.finish(held)
    store.control.reconcile()
    ended = store.campaigns.get(campaign_id)
    assert (ended.state, ended.missing) == (State.INCOMPLETE, {"not in the bundle": 2})
