"""Poison jobs are set aside, sick nodes quarantined, innocents neither (DESIGN 4)."""

from __future__ import annotations

import pytest

from orchestrator.contracts.campaigns import EventKind
from orchestrator.contracts.jobs import FailureKind
from orchestrator.contracts.nodes import NodeState
from tests.contract.agents import Agent
from tests.contract.stores import StoreUnderTest
from tests.contract.studies import jobs, study, submitted


def fail_wherever_it_goes(agents: list[Agent], kind: FailureKind, times: int) -> list[str]:
    """Let each attempt at the only job fail; the nodes on which it was tried."""
    tried = []
    for _ in range(times):
        for agent in agents:
            job = agent.try_to_take()
            if job is not None:
                agent.fail(job, kind)
                tried.append(agent.node)
                break
    return tried


def fail_as_a_node(agent: Agent) -> None:
    """One more node-class failure, on another job than the last one where there are two."""
    agent.fail(agent.take(), FailureKind.NODE, "the disk is full")


def test_a_job_is_set_aside_after_three_attempts_in_vain(store: StoreUnderTest) -> None:
    campaign_id = submitted(store, study())
    agent = Agent(store)
    fail_wherever_it_goes([agent], FailureKind.ENGINE, 2)
    assert jobs(store, campaign_id) == {"queued": 1}
    fail_wherever_it_goes([agent], FailureKind.ENGINE, 1)
    assert jobs(store, campaign_id) == {"set_aside": 1}


def test_a_job_set_aside_is_told_with_its_reason(store: StoreUnderTest) -> None:
    campaign_id = submitted(store, study())
    fail_wherever_it_goes([Agent(store)], FailureKind.ENGINE, 3)
    told = store.campaigns.events(campaign_id)
    assert [event.kind for event in told] == [EventKind.JOB_SET_ASIDE]
    assert "it broke" in told[0].message


def test_a_job_that_fails_on_one_node_is_tried_on_another_before_it_is_set_aside(store: StoreUnderTest) -> None:
    campaign_id = submitted(store, study())
    tried = fail_wherever_it_goes([Agent(store, "n1"), Agent(store, "n2")], FailureKind.ENGINE, 3)
    assert set(tried) == {"n1", "n2"}
    assert jobs(store, campaign_id) == {"set_aside": 1}


def test_three_failures_on_one_node_are_not_enough_where_there_is_another(store: StoreUnderTest) -> None:
    first = Agent(store, "n1")
    campaign_id = submitted(store, study())
    fail_wherever_it_goes([first], FailureKind.ENGINE, 2)
    job = first.take()
    Agent(store, "n2")
    first.fail(job, FailureKind.ENGINE)
    assert jobs(store, campaign_id) == {"queued": 1}


def test_a_pinned_job_is_set_aside_after_three_attempts_on_its_node(store: StoreUnderTest) -> None:
    agents = [Agent(store, "n1"), Agent(store, "n2")]
    campaign_id = submitted(store, study(placement="pinned", node="n1"))
    assert fail_wherever_it_goes(agents, FailureKind.ENGINE, 3) == ["n1"] * 3
    assert jobs(store, campaign_id) == {"set_aside": 1}


def test_an_attempt_that_brought_a_new_run_does_not_count(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(replicates=5))
    for _ in range(4):
        job = agent.take()
        agent.measure(job, only=1)
        agent.fail(job, FailureKind.ENGINE)
    assert jobs(store, campaign_id) == {"queued": 1}


def test_an_attempt_that_brought_only_invalid_runs_counts(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(replicates=5))
    for _ in range(3):
        job = agent.take()
        agent.record(agent.run(job, valid=False))
        agent.fail(job, FailureKind.ENGINE)
    assert jobs(store, campaign_id) == {"set_aside": 1}


def test_leases_that_run_out_count_like_failures(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    for _ in range(3):
        agent.take()
        store.expire_leases()
        store.control.reconcile()
    assert jobs(store, campaign_id) == {"set_aside": 1}


def test_agents_that_die_of_a_job_count_like_failures(store: StoreUnderTest) -> None:
    campaign_id = submitted(store, study())
    for _ in range(3):
        Agent(store).take()
        again = Agent(store)
        store.jobs.release_node(again.node, again.session)
    assert jobs(store, campaign_id) == {"set_aside": 1}


def test_what_two_nodes_cannot_do_is_set_aside(store: StoreUnderTest) -> None:
    agents = [Agent(store, "n1"), Agent(store, "n2"), Agent(store, "n3")]
    campaign_id = submitted(store, study())
    fail_wherever_it_goes(agents, FailureKind.STUDY, 1)
    assert jobs(store, campaign_id) == {"queued": 1}
    fail_wherever_it_goes(agents, FailureKind.STUDY, 1)
    assert jobs(store, campaign_id) == {"set_aside": 1}


def test_what_the_only_node_cannot_do_is_set_aside_at_once(store: StoreUnderTest) -> None:
    campaign_id = submitted(store, study())
    fail_wherever_it_goes([Agent(store)], FailureKind.STUDY, 1)
    assert jobs(store, campaign_id) == {"set_aside": 1}


def test_what_its_pinned_node_cannot_do_is_set_aside_at_once(store: StoreUnderTest) -> None:
    agents = [Agent(store, "n1"), Agent(store, "n2")]
    campaign_id = submitted(store, study(placement="pinned", node="n1"))
    fail_wherever_it_goes(agents, FailureKind.STUDY, 1)
    assert jobs(store, campaign_id) == {"set_aside": 1}


def test_what_a_node_could_not_do_is_set_aside_when_the_only_other_is_gone(store: StoreUnderTest) -> None:
    agents = [Agent(store, "n1"), Agent(store, "n2")]
    campaign_id = submitted(store, study())
    (refusing,) = fail_wherever_it_goes(agents, FailureKind.STUDY, 1)
    (other,) = [agent for agent in agents if agent.node != refusing]
    store.nodes.goodbye(other.session)
    store.control.reconcile()
    assert jobs(store, campaign_id) == {"set_aside": 1}


def test_a_job_does_not_pay_for_its_node(store: StoreUnderTest) -> None:
    agents = [Agent(store, "n1"), Agent(store, "n2")]
    campaign_id = submitted(store, study(settings=9))
    for _ in range(3):
        fail_as_a_node(agents[0])
    store.control.reconcile()
    agents[1].work_off()
    assert jobs(store, campaign_id) == {"done": 9}


def test_three_node_failures_in_a_row_on_different_jobs_quarantine_the_node(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=5))
    fail_as_a_node(agent)
    fail_as_a_node(agent)
    assert agent.shown().state is NodeState.READY
    fail_as_a_node(agent)
    shown = agent.shown()
    assert shown.state is NodeState.QUARANTINED
    assert "the disk is full" in (shown.reason or "")
    assert store.control.dispatch() == []
    store.control.reconcile()
    assert jobs(store, campaign_id)["offered"] == 0


def test_a_quarantine_is_told_with_its_reason(store: StoreUnderTest) -> None:
    agent = Agent(store)
    Agent(store, "n2")
    submitted(store, study(settings=9))
    for _ in range(3):
        fail_as_a_node(agent)
    (told,) = [event for event in store.campaigns.events() if event.kind == EventKind.NODE_QUARANTINED]
    assert told.node == "n1"
    assert "the disk is full" in told.message


def test_failing_again_on_the_same_job_says_nothing_new_about_the_node(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study(settings=1, placement="pinned", node="n1"))
    submitted(store, study(settings=1, placement="pinned", node="n2"))
    for _ in range(4):
        agent.fail(agent.take(), FailureKind.NODE)
    assert agent.shown().state is NodeState.READY


def test_a_node_that_fails_at_the_only_job_left_is_quarantined_too(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study())
    for _ in range(3):
        agent.fail(agent.take(), FailureKind.NODE)
    assert agent.shown().state is NodeState.QUARANTINED


def test_a_success_makes_good_for_earlier_failures_of_a_node(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study(settings=9))
    for _ in range(2):
        fail_as_a_node(agent)
    agent.work()
    for _ in range(2):
        fail_as_a_node(agent)
    assert agent.shown().state is NodeState.READY


@pytest.mark.parametrize("kind", [FailureKind.ENGINE, FailureKind.STUDY, FailureKind.LOST])
def test_other_failures_are_not_held_against_the_node(store: StoreUnderTest, kind: FailureKind) -> None:
    agent = Agent(store)
    submitted(store, study(settings=5))
    for _ in range(5):
        agent.fail(agent.take(), kind)
    assert agent.shown().state is NodeState.READY


def test_a_reinstated_node_works_again_and_starts_afresh(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=5))
    for _ in range(3):
        fail_as_a_node(agent)
    shown = store.nodes.reinstate("n1")
    assert (shown.state, shown.reason) == (NodeState.READY, None)
    for _ in range(2):
        fail_as_a_node(agent)
    assert agent.shown().state is NodeState.READY
    agent.work_off()
    assert jobs(store, campaign_id) == {"done": 5}


def test_an_attempt_whose_run_comes_home_later_does_not_count(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(replicates=5))
    first = agent.take()
    agent.fail(first, FailureKind.LOST)
    agent.measure(first, only=1)
    fail_wherever_it_goes([agent], FailureKind.ENGINE, 2)
    assert jobs(store, campaign_id) == {"queued": 1}
    fail_wherever_it_goes([agent], FailureKind.ENGINE, 1)
    assert jobs(store, campaign_id) == {"set_aside": 1}
