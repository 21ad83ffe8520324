"""A job's last runs, its end and the next job in one call; and who has to be told of an offer."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID, uuid4

import pytest

from orchestrator.contracts.errors import ConflictError
from orchestrator.contracts.jobs import Assignment, Ending, Failure, FailureKind, HandedOver
from orchestrator.contracts.runs import Run
from tests.contract.agents import Agent
from tests.contract.stores import StoreUnderTest
from tests.contract.studies import jobs, study, submitted


def hand_over(
    agent: Agent, job: Assignment, *runs: Run, ending: Ending = Ending.COMPLETE, next_for: UUID | None = None
) -> HandedOver:
    failure = Failure(kind=FailureKind.ENGINE, reason="it broke") if ending is Ending.FAIL else None
    return agent.store.jobs.hand_over(runs, job.job_id, job.token, ending, failure, next_for=next_for)


def runs_of(agent: Agent, job: Assignment) -> list[Run]:
    return [agent.run(job, pending) for pending in job.pending]


def test_runs_and_job_come_home_and_the_next_job_is_leased(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=2, replicates=2))
    first = agent.take()
    runs = runs_of(agent, first)
    handed = hand_over(agent, first, *runs, next_for=agent.session)
    assert set(handed.receipt.valid) == {run.id for run in runs}
    assert handed.next is not None
    assert [pending.replicate for pending in handed.next.pending] == [0, 1]
    assert jobs(store, campaign_id) == {"done": 1, "leased": 1}
    assert store.jobs.held_by(agent.node) == [handed.next.job_id]
    hand_over(agent, handed.next, *runs_of(agent, handed.next))
    assert jobs(store, campaign_id) == {"done": 2}


def test_nothing_is_leased_to_whoever_wants_no_more(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=2))
    first = agent.take()
    assert hand_over(agent, first, *runs_of(agent, first)).next is None
    assert jobs(store, campaign_id) == {"done": 1, "offered": 1}


def test_nothing_is_leased_where_nothing_is_offered(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study())
    first = agent.take()
    assert hand_over(agent, first, *runs_of(agent, first), next_for=agent.session).next is None


def test_nothing_is_leased_to_a_session_that_is_not_known(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study(settings=2))
    first = agent.take()
    assert hand_over(agent, first, *runs_of(agent, first), next_for=uuid4()).next is None


def test_a_paused_campaign_is_not_gone_on_with(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=2))
    first = agent.take()
    store.campaigns.pause(campaign_id)
    assert hand_over(agent, first, ending=Ending.RELEASE, next_for=agent.session).next is None


def test_a_job_that_failed_is_given_back_and_the_next_is_leased(store: StoreUnderTest) -> None:
    agent, _ = Agent(store), Agent(store, "n2")
    submitted(store, study(settings=4))
    first = agent.take()
    handed = hand_over(agent, first, ending=Ending.FAIL, next_for=agent.session)
    assert handed.next is not None
    assert handed.next.job_id != first.job_id


def test_a_run_that_does_not_fit_keeps_everything_as_it_was(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=2))
    first = agent.take()
    with pytest.raises(ConflictError):
        hand_over(agent, first, replace(agent.run(first), setting_id=10**6), next_for=agent.session)
    assert jobs(store, campaign_id) == {"leased": 1, "offered": 1}
    assert store.campaigns.progress(campaign_id).valid_runs == 0


def test_a_second_time_changes_nothing(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=2))
    first = agent.take()
    runs = runs_of(agent, first)
    hand_over(agent, first, *runs)
    assert set(hand_over(agent, first, *runs).receipt.known) == {run.id for run in runs}
    assert jobs(store, campaign_id) == {"done": 1, "offered": 1}


def test_a_node_without_a_job_is_told_of_the_first_it_is_offered(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study(settings=2))
    offers = store.control.dispatch()
    (told,), _ = store.control.unengaged(offers)
    assert told.job_id == min(offer.job_id for offer in offers)
    assert told.node == agent.node


def test_a_node_at_work_is_not_told(store: StoreUnderTest) -> None:
    agent, idle = Agent(store), Agent(store, "n2")
    submitted(store, study(settings=6))
    offers = store.control.dispatch(outstanding=1)
    assert agent.claim(next(offer.job_id for offer in offers if offer.node == agent.node)) is not None
    more = store.control.dispatch()
    assert {offer.node for offer in more} == {agent.node, idle.node}
    told, unsure = store.control.unengaged([*offers, *more])
    assert ([offer.node for offer in told], unsure) == ([idle.node], [])


def test_nobody_is_told_of_what_has_been_taken_meanwhile(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study())
    offers = store.control.dispatch()
    agent.claim(offers[0].job_id)
    assert store.control.unengaged(offers) == ([], [])
