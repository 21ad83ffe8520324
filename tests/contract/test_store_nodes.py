"""Nodes, their sessions, and who is online."""

from __future__ import annotations

from uuid import uuid4

import pytest

from orchestrator.contracts.errors import NotFoundError
from orchestrator.contracts.nodes import Hello, NodeState
from tests.contract.agents import Agent
from tests.contract.stores import StoreUnderTest
from tests.contract.studies import jobs, study, submitted


def test_a_node_that_reports_is_ready_for_work(store: StoreUnderTest) -> None:
    shown = Agent(store, "n1", engines={"iozone": "3.489"}).shown()
    assert (shown.name, shown.state, shown.online, shown.reason) == ("n1", NodeState.READY, True, None)
    assert (shown.engines, shown.job_id) == ({"iozone": "3.489"}, None)
    assert shown.seen_s_ago is not None
    assert 0 <= shown.seen_s_ago < 45


def test_nodes_are_listed_by_name(store: StoreUnderTest) -> None:
    for name in ("n3", "n1", "n2"):
        Agent(store, name)
    assert [node.name for node in store.nodes.all()] == ["n1", "n2", "n3"]


def test_saying_hello_again_refreshes_what_is_known(store: StoreUnderTest) -> None:
    agent = Agent(store)
    store.forget_node("n1")
    assert not agent.shown().online
    hello = Hello(
        node="n1", session=agent.session, boot_id="9a1b", version="0.1.0", engines={"fio": "3"}, facts={"cpus": 0}
    )
    store.nodes.hello(hello)
    shown = agent.shown()
    assert (shown.online, shown.engines, shown.facts) == (True, {"fio": "3"}, {"cpus": 0})
    assert len(store.nodes.all()) == 1


def test_a_node_not_heard_of_is_offline_and_gets_nothing(store: StoreUnderTest) -> None:
    Agent(store)
    submitted(store, study())
    store.forget_node("n1")
    assert store.control.dispatch() == []


def test_a_node_is_silent_while_it_measures_and_online_all_the_same(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study())
    agent.take()
    store.forget_node("n1")
    assert agent.shown().online
    store.expire_leases()
    assert not agent.shown().online


def test_a_node_that_gives_a_job_back_was_heard_of(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study(settings=3))
    job = agent.take()
    store.forget_node("n1")
    agent.measure(job)
    agent.finish(job)
    store.control.reconcile()
    assert agent.shown().online
    assert agent.try_to_take() is not None


def test_an_agent_that_says_goodbye_is_offline_at_once(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=3))
    store.control.dispatch()
    store.nodes.goodbye(agent.session)
    assert not agent.shown().online
    assert jobs(store, campaign_id) == {"queued": 3}
    assert store.control.dispatch() == []


def test_goodbye_of_an_earlier_session_does_not_touch_the_present_one(store: StoreUnderTest) -> None:
    before = Agent(store)
    after = Agent(store)
    campaign_id = submitted(store, study())
    store.control.dispatch()
    store.nodes.goodbye(before.session)
    store.nodes.goodbye(uuid4())
    assert after.shown().online
    assert jobs(store, campaign_id) == {"offered": 1}


def test_a_session_that_has_ended_does_not_come_back(store: StoreUnderTest) -> None:
    agent = Agent(store)
    store.nodes.goodbye(agent.session)
    agent.hello()
    assert not agent.shown().online


def test_a_late_hello_of_an_earlier_session_does_not_push_out_the_present_one(store: StoreUnderTest) -> None:
    before = Agent(store, engines={"builtin": "1"})
    after = Agent(store, engines={"builtin": "2"})
    before.hello()
    submitted(store, study())
    assert after.shown().engines == {"builtin": "2"}
    assert after.try_to_take() is not None


def test_what_an_earlier_session_held_stays_leased_until_it_is_released(store: StoreUnderTest) -> None:
    before = Agent(store)
    campaign_id = submitted(store, study())
    job = before.take()
    Agent(store)
    assert jobs(store, campaign_id) == {"leased": 1}
    assert store.jobs.renew(job.job_id, job.token).granted


def test_a_node_that_nobody_knows_cannot_be_reinstated(store: StoreUnderTest) -> None:
    with pytest.raises(NotFoundError):
        store.nodes.reinstate("a node nobody knows")


def test_a_ledger_has_one_name(store: StoreUnderTest) -> None:
    assert store.ledger == store.ledger


def test_a_draining_node_ends_what_it_holds_and_gets_nothing_more(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(replicates=20, per_job=10))
    job = agent.take()
    store.control.dispatch()
    assert store.nodes.drain(agent.node).state is NodeState.DRAINING
    store.control.reconcile()
    assert jobs(store, campaign_id) == {"leased": 1, "queued": 1}
    assert store.jobs.renew(job.job_id, job.token).granted
    assert store.control.dispatch() == []
    store.nodes.reinstate(agent.node)
    assert len(store.control.dispatch()) == 1


def test_a_node_that_nobody_knows_cannot_be_drained(store: StoreUnderTest) -> None:
    with pytest.raises(NotFoundError):
        store.nodes.drain("a node nobody knows")
