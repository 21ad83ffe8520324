"""What is read of rounds that were begun together, and the nodes that hold them up."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.contracts.campaigns import EventKind
from orchestrator.contracts.lockstep import CriticalNode
from tests.contract.agents import Agent
from tests.contract.stores import StoreUnderTest
from tests.contract.studies import in_lockstep, study, submitted

NODES = ("n1", "n2")
CRITICAL = CriticalNode(
    node="n2", named=True, since=1.6e9, rounds=50, critical=40, chance=0.5, differs="temperature is what differs"
)
MESSAGE = "node n2 critical in 80 % of rounds"


def carry_out(store: StoreUnderTest, *agents: Agent) -> None:
    taken = [agent.take() for agent in agents]
    for job in taken:
        store.jobs.line_up(job.job_id, job.token)
    for agent, job in zip(agents, taken, strict=True):
        agent.measure(job)
        agent.finish(job)


def test_finishes_are_those_of_rounds_by_the_instant_they_were_given(store: StoreUnderTest) -> None:
    agents = [Agent(store, node) for node in NODES]
    campaign_id = submitted(store, in_lockstep(NODES, rounds=3))
    carry_out(store, *agents)
    carry_out(store, *agents)
    found = store.lockstep.finished(campaign_id, jobs=100)
    assert [(one.round, one.node) for one in found] == [(0, "n1"), (0, "n2"), (1, "n1"), (1, "n2")]
    assert found[0].start_at == found[1].start_at < found[2].start_at == found[3].start_at
    assert {one.elapsed_s for one in found} == {0.25}
    assert [one.round for one in store.lockstep.finished(campaign_id, jobs=2)] == [1, 1]


def test_a_campaign_of_another_placement_has_none(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(replicates=2))
    agent.work()
    assert store.lockstep.finished(campaign_id, jobs=100) == []


def test_that_a_node_is_critical_is_an_event_once_and_so_is_that_it_is_over(store: StoreUnderTest) -> None:
    [Agent(store, node) for node in NODES]
    campaign_id = submitted(store, in_lockstep(NODES))
    assert store.lockstep.keep(campaign_id, CRITICAL, MESSAGE)
    assert not store.lockstep.keep(campaign_id, replace(CRITICAL, rounds=60, critical=49), "again")
    assert store.lockstep.critical(campaign_id) == [replace(CRITICAL, rounds=60, critical=49)]
    (event,) = store.campaigns.events(campaign_id)
    assert (event.kind, event.node, event.message) == (EventKind.NODE_CRITICAL, "n2", MESSAGE)
    over = replace(CRITICAL, named=False)
    assert store.lockstep.keep(campaign_id, over, "it is over")
    assert not store.lockstep.keep(campaign_id, over, "it is over")
    assert store.lockstep.critical(campaign_id) == [over]
    assert [one.message for one in store.campaigns.events(campaign_id)] == ["it is over", MESSAGE]


def test_one_that_never_was_critical_is_no_event(store: StoreUnderTest) -> None:
    [Agent(store, node) for node in NODES]
    campaign_id = submitted(store, in_lockstep(NODES))
    assert not store.lockstep.keep(campaign_id, replace(CRITICAL, named=False), "nothing")
    assert store.campaigns.events(campaign_id) == []
