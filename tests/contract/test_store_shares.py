"""Who has which share of a campaign, and what becomes of it when its node goes away."""

from __future__ import annotations

from collections import Counter

import pytest

from orchestrator.contracts.campaigns import EventKind
from orchestrator.contracts.jobs import FailureKind
from orchestrator.contracts.rates import FoundRate
from tests.contract.agents import Agent
from tests.contract.stores import StoreUnderTest
from tests.contract.studies import jobs, study, submitted
from tests.contract.test_store_rates import FORECAST

A_WHILE_S = 10 * 60
"""Too short to be lost."""
LONG_S = 16 * 60


def shares(store: StoreUnderTest, campaign_id: int) -> dict[object, Counter[str]]:
    """Setting -> node -> jobs it did."""
    found: dict[object, Counter[str]] = {}
    for levels, node, _ in {(row.levels, row.node, row.job) for row in store.campaigns.export(campaign_id)}:
        found.setdefault(levels, Counter())[node] += 1
    return found


def work_in_turn(*agents: Agent) -> None:
    """Each does a job, as long as any has one."""
    busy = list(agents)
    while busy:
        busy = [agent for agent in busy if (job := agent.try_to_take()) and agent.measure(job) and agent.finish(job)]


def go_away(agent: Agent, seconds: float) -> None:
    """The agent falls silent, and the controllers watch for so long."""
    agent.store.forget_node(agent.node)
    agent.store.control.reconcile()
    agent.store.pass_time(seconds)


def stay(*agents: Agent) -> None:
    for agent in agents:
        agent.hello()


def test_a_quick_node_does_its_whole_share_while_the_others_are_at_their_first_job(store: StoreUnderTest) -> None:
    quick, slow, slower = (Agent(store, name) for name in ("n1", "n2", "n3"))
    campaign_id = submitted(store, study(settings=3, replicates=6, per_job=1, placement="balanced"))
    slow.take()
    slower.take()
    quick.work_off()
    assert {done["n1"] for done in shares(store, campaign_id).values()} == {2}


def test_a_share_is_no_larger_for_a_node_that_is_quick(store: StoreUnderTest) -> None:
    quick, slow = Agent(store, "n1"), Agent(store, "n2")
    campaign_id = submitted(store, study(settings=2, replicates=5, per_job=1, placement="balanced"))
    quick.work_off()
    assert jobs(store, campaign_id)["done"] in {4, 5, 6}
    slow.work_off()
    quick.work_off()
    assert jobs(store, campaign_id) == {"done": 10}
    assert all(max(done.values()) - min(done.values()) <= 1 for done in shares(store, campaign_id).values())


def test_a_node_that_comes_later_gets_a_share_of_what_is_left(store: StoreUnderTest) -> None:
    first = Agent(store, "n1")
    campaign_id = submitted(store, study(settings=2, replicates=6, per_job=1, placement="balanced"))
    first.work_off(jobs=4)  # two of each setting
    second = Agent(store, "n2")
    work_in_turn(first, second)
    assert jobs(store, campaign_id) == {"done": 12}
    assert all(done == {"n1": 3, "n2": 3} for done in shares(store, campaign_id).values())


@pytest.mark.parametrize("placement", ["balanced", "pinned"])
def test_a_node_that_is_away_for_a_while_keeps_its_share(store: StoreUnderTest, placement: str) -> None:
    stays, leaves = Agent(store, "n1"), Agent(store, "n2")
    made = study(settings=2, replicates=4, per_job=1, placement=placement, nodes=pinned_to(placement))
    campaign_id = submitted(store, made)
    store.control.dispatch()
    go_away(leaves, A_WHILE_S)
    stay(stays)
    stays.work_off()
    assert jobs(store, campaign_id) == {"done": 4, "queued": 4}
    assert store.campaigns.progress(campaign_id).waits_for == ("n2",)
    stay(leaves)
    leaves.work_off()
    assert jobs(store, campaign_id) == {"done": 8}
    assert store.campaigns.events(campaign_id)[0].kind == EventKind.CAMPAIGN_COMPLETE


@pytest.mark.parametrize("placement", ["balanced", "pinned"])
def test_the_others_do_the_share_of_a_node_that_is_lost_and_the_campaign_says_so(
    store: StoreUnderTest, placement: str
) -> None:
    stays, leaves = Agent(store, "n1"), Agent(store, "n2")
    made = study(settings=2, replicates=4, per_job=1, placement=placement, nodes=pinned_to(placement))
    campaign_id = submitted(store, made)
    store.control.dispatch()
    go_away(leaves, LONG_S)
    stay(stays)
    store.control.reconcile()
    store.control.reconcile()
    assert [event.kind for event in store.campaigns.events(campaign_id)] == [EventKind.NODE_LOST]
    progress = store.campaigns.progress(campaign_id)
    assert (progress.waits_for, progress.lost) == ((), ("n2",))
    stays.work_off()
    assert jobs(store, campaign_id) == {"done": 8}


@pytest.mark.parametrize("placement", ["balanced", "pinned"])
def test_a_study_may_say_to_wait_for_a_lost_node(store: StoreUnderTest, placement: str) -> None:
    stays, leaves = Agent(store, "n1"), Agent(store, "n2")
    made = study(
        settings=2, replicates=4, per_job=1, placement=placement, nodes=pinned_to(placement), on_lost_node="wait"
    )
    campaign_id = submitted(store, made)
    store.control.dispatch()
    go_away(leaves, 100 * LONG_S)
    stay(stays)
    stays.work_off()
    assert jobs(store, campaign_id) == {"done": 4, "queued": 4}
    progress = store.campaigns.progress(campaign_id)
    assert (progress.waits_for, progress.lost) == (("n2",), ())
    assert store.campaigns.events(campaign_id) == []


def pinned_to(placement: str) -> tuple[str, ...]:
    return ("n1", "n2") if placement == "pinned" else ()


def test_a_lost_node_that_comes_back_has_a_share_again(store: StoreUnderTest) -> None:
    stays, leaves = Agent(store, "n1"), Agent(store, "n2")
    campaign_id = submitted(store, study(replicates=8, per_job=1, placement="balanced"))
    stays.work()
    go_away(leaves, LONG_S)
    stay(stays)
    store.control.reconcile()
    stays.work()
    assert store.campaigns.progress(campaign_id).lost == ("n2",)
    stay(leaves)
    work_in_turn(leaves, stays)
    assert store.campaigns.progress(campaign_id).lost == ()
    assert shares(store, campaign_id) == {(1, 4.0, "ssd"): {"n1": 4, "n2": 4}}


def test_while_the_controllers_are_away_nobody_is_lost(store: StoreUnderTest) -> None:
    stays, leaves = Agent(store, "n1"), Agent(store, "n2")
    campaign_id = submitted(store, study(replicates=4, per_job=1, placement="balanced"))
    store.control.dispatch()
    go_away(leaves, LONG_S)
    stay(stays)
    store.leave_alone(LONG_S)
    store.control.reconcile()
    assert store.campaigns.progress(campaign_id).lost == ()


def test_a_node_that_never_came_is_not_lost(store: StoreUnderTest) -> None:
    Agent(store, "n1")
    campaign_id = submitted(store, study(settings=2, placement="pinned", nodes=("n1", "n2")))
    store.control.reconcile()
    store.pass_time(100 * LONG_S)
    store.control.reconcile()
    progress = store.campaigns.progress(campaign_id)
    assert ("n2" in progress.waits_for, progress.lost) == (True, ())


def test_without_others_the_share_of_a_lost_node_waits(store: StoreUnderTest) -> None:
    leaves = Agent(store, "n1")
    campaign_id = submitted(store, study(settings=2, placement="pinned", nodes=("n1",)))
    go_away(leaves, LONG_S)
    Agent(store, "n2")  # not one that the study names
    store.control.reconcile()
    assert store.control.dispatch() == []
    assert store.campaigns.progress(campaign_id).waits_for == ("n1",)


def test_a_pinned_setting_of_a_lost_node_stays_on_one_other(store: StoreUnderTest) -> None:
    agents = [Agent(store, name) for name in ("n1", "n2", "n3")]
    made = study(settings=6, replicates=3, per_job=1, placement="pinned", nodes=("n1", "n2", "n3"))
    campaign_id = submitted(store, made)
    go_away(agents[2], LONG_S)
    stay(*agents[:2])
    store.control.reconcile()
    work_in_turn(*agents[:2])
    assert jobs(store, campaign_id) == {"done": 18}
    done = shares(store, campaign_id).values()
    assert all(len(nodes) == 1 for nodes in done)
    assert Counter(node for nodes in done for node in nodes) == {"n1": 3, "n2": 3}


def test_a_quarantined_node_gives_its_share_back(store: StoreUnderTest) -> None:
    agents = {name: Agent(store, name) for name in ("n1", "n2", "n3", "n4")}
    campaign_id = submitted(store, study(settings=3, replicates=4, per_job=1, placement="balanced"))
    for _ in range(3):
        agents["n4"].fail(agents["n4"].take(), FailureKind.NODE, "no such program")
    store.control.reconcile()
    healthy = [agents[name] for name in ("n1", "n2", "n3")]
    work_in_turn(*healthy)
    store.control.reconcile()
    assert jobs(store, campaign_id) == {"done": 12}
    assert agents["n4"].shown().reason == "no such program"
    assert store.campaigns.get(campaign_id).state == "complete"
    assert all(max(done.values()) - min(done.values()) <= 1 for done in shares(store, campaign_id).values())


def test_a_draining_node_gives_its_share_back(store: StoreUnderTest) -> None:
    stays, drains = Agent(store, "n1"), Agent(store, "n2")
    campaign_id = submitted(store, study(settings=2, replicates=4, per_job=1, placement="balanced"))
    in_hand = drains.take()
    store.nodes.drain("n2")
    store.control.reconcile()
    drains.measure(in_hand)
    drains.finish(in_hand)
    stays.work_off()
    assert jobs(store, campaign_id) == {"done": 8}


def test_by_rate_a_node_does_as_much_of_a_campaign_as_it_does_in_a_time(store: StoreUnderTest) -> None:
    quick, slow = Agent(store, "n1"), Agent(store, "n2")
    campaign_id = submitted(store, study(settings=20, replicates=4, per_job=1, placement="by_rate"))
    store.rates.keep(campaign_id, FORECAST, [rate("n1", 3.0), rate("n2", 1.0)])
    work_in_turn(quick, slow)
    done = sum(shares(store, campaign_id).values(), Counter())
    assert 16 <= done["n2"] <= 24  # a quarter of 80
    assert min(of["n1"] for of in shares(store, campaign_id).values()) >= 2


def test_by_rate_while_no_rates_are_known_nodes_share_evenly(store: StoreUnderTest) -> None:
    quick, slow = Agent(store, "n1"), Agent(store, "n2")
    campaign_id = submitted(store, study(settings=4, replicates=4, per_job=1, placement="by_rate"))
    work_in_turn(quick, slow)
    assert all(done == {"n1": 2, "n2": 2} for done in shares(store, campaign_id).values())


def test_by_rate_what_was_dealt_before_rates_were_known_is_dealt_again(store: StoreUnderTest) -> None:
    quick, slow = Agent(store, "n1"), Agent(store, "n2")
    campaign_id = submitted(store, study(settings=20, replicates=4, per_job=1, placement="by_rate"))
    for _ in range(10):
        quick.work()  # and as many are dealt to the other
    store.rates.keep(campaign_id, FORECAST, [rate("n1", 9.0), rate("n2", 1.0)])
    work_in_turn(quick, slow)
    assert sum(shares(store, campaign_id).values(), Counter())["n2"] <= 14


def rate(node: str, runs_per_s: float) -> FoundRate:
    return FoundRate(
        node=node, runs_per_s=runs_per_s, low_per_s=runs_per_s, high_per_s=runs_per_s, runs=64, since=0.0, change=None
    )
