"""What rates are learned from, and what is kept of them."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.contracts.campaigns import EventKind
from orchestrator.contracts.rates import Forecast, FoundRate, InHand
from tests.contract.agents import Agent
from tests.contract.stores import StoreUnderTest
from tests.contract.studies import study, submitted

FORECAST = Forecast(
    runs_per_s=2.0,
    low_per_s=1.5,
    high_per_s=2.5,
    time_left_s=60.0,
    time_left_low_s=50.0,
    time_left_high_s=80.0,
    nodes=1,
)


def rate(since: float, change: str | None = None, node: str = "n1") -> FoundRate:
    return FoundRate(node=node, runs_per_s=2.0, low_per_s=1.5, high_per_s=2.5, runs=64, since=since, change=change)


def test_rates_are_learned_from_valid_runs_of_jobs_that_are_done_or_in_hand(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=2, replicates=2))
    agent.work()
    job = agent.take()
    agent.record(agent.run(job, valid=False))
    agent.measure(job, only=1)
    found = store.rates.completions(campaign_id)
    assert [(run.node, run.setting, run.sequence) for run in found] == [("n1", 0, 0), ("n1", 0, 1), ("n1", 1, 3)]
    assert [run.done_at is None for run in found] == [False, False, True]


def test_only_the_newest_jobs_are_read_and_only_those_done_since(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=3))
    for _ in range(3):
        agent.work()
    newest = store.rates.completions(campaign_id, jobs=1)
    assert [run.setting for run in newest] == [2]
    assert newest[0].done_at is not None
    assert store.rates.completions(campaign_id, after=newest[0].done_at) == []


def test_open_work_is_what_waits_and_what_is_in_hand(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=2, replicates=4, per_job=2))
    agent.measure(agent.take(), only=1)
    found = store.rates.open_work(campaign_id)
    assert (list(found.settings), list(found.first_replicates)) == ([1, 0, 1], [0, 2, 2])
    assert list(found.replicates) == [2, 2, 2]
    assert list(found.in_hand) == [InHand(node="n1", setting=0, missing=1)]
    assert list(found.nodes) == ["n1"]
    assert found.elapsed_s > 0


def test_only_nodes_that_may_work_on_it_now_count(store: StoreUnderTest) -> None:
    for name in ("at work", "drained", "gone"):
        Agent(store, name)
    Agent(store, "without the engine", engines={})
    campaign_id = submitted(store, study())
    store.nodes.drain("drained")
    store.forget_node("gone")
    assert list(store.rates.open_work(campaign_id).nodes) == ["at work"]


def test_the_time_left_that_was_told_is_shown_with_its_interval(store: StoreUnderTest) -> None:
    campaign_id = submitted(store, study())
    store.rates.keep(campaign_id, replace(FORECAST, time_left_s=70.0), [])
    store.rates.keep(campaign_id, FORECAST, [])
    progress = store.campaigns.progress(campaign_id)
    left = (progress.time_left_low_s, progress.time_left_s, progress.time_left_high_s)
    assert left == (50.0, 60.0, 80.0)
    assert store.rates.forecast(campaign_id) == FORECAST
    assert store.rates.forecasts() == {campaign_id: FORECAST}
    store.campaigns.cancel(campaign_id)
    assert store.rates.forecasts() == {}


def test_a_change_of_a_nodes_rate_is_one_event_however_often_it_is_found(store: StoreUnderTest) -> None:
    Agent(store)
    campaign_id = submitted(store, study())
    now = store.rates.open_work(campaign_id).now
    fell, rose = rate(now - 60, "node n1 fell"), rate(now + 3600, "node n1 rose")
    assert store.rates.keep(campaign_id, FORECAST, [rate(now - 600)]) == []
    assert store.rates.keep(campaign_id, FORECAST, [fell]) == ["node n1 fell"]
    assert store.rates.keep(campaign_id, FORECAST, [replace(fell, since=now - 50)]) == []
    assert store.rates.keep(campaign_id, FORECAST, [rose]) == ["node n1 rose"]
    events = store.campaigns.events(campaign_id)
    assert [(event.kind, event.node, event.message) for event in events] == [
        (EventKind.NODE_RATE_CHANGED, "n1", "node n1 rose"),
        (EventKind.NODE_RATE_CHANGED, "n1", "node n1 fell"),
    ]


def test_of_a_node_the_latest_rate_is_shown_and_of_a_campaign_that_of_every_node(store: StoreUnderTest) -> None:
    for name in ("n1", "n2"):
        Agent(store, name)
    first, second = submitted(store, study(key="a")), submitted(store, study(key="b", digest="another"))
    store.rates.keep(first, FORECAST, [rate(1.0), rate(1.0, node="n2")])
    store.rates.keep(second, FORECAST, [rate(2.0)])
    assert [(found.node, found.campaign_id, found.since) for found in store.rates.of_nodes()] == [
        ("n1", second, 2.0),
        ("n2", first, 1.0),
    ]
    assert [found.node for found in store.rates.of_campaign(first)] == ["n1", "n2"]
