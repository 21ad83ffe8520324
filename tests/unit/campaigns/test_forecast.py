"""The time left of campaigns in the ledger, and what would be otherwise."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.campaigns import forecast
from orchestrator.campaigns.forecast import WhatIf
from orchestrator.campaigns.forecaster import Forecaster
from orchestrator.contracts.errors import NotFoundError
from orchestrator.store.memory import MemoryStore
from tests.contract.agents import Agent
from tests.contract.stores import MemoryUnderTest
from tests.contract.studies import study, submitted

RUN_S = 2.0


def worked(agent: Agent, jobs: int) -> None:
    """So many jobs, one run after the other, of two seconds each."""
    for _ in range(jobs):
        job = agent.take()
        runs = [agent.run(job, pending) for pending in job.pending]
        agent.record(*(replace(run, elapsed_s=RUN_S, started_at=1e6 + RUN_S * run.sequence) for run in runs))
        assert agent.finish(job)


@pytest.fixture
def store() -> MemoryUnderTest:
    return MemoryUnderTest()


def test_the_time_left_is_what_the_open_runs_cost_on_the_nodes_at_work(store: MemoryUnderTest) -> None:
    agents = [Agent(store, name) for name in ("n1", "n2")]
    campaign_id = submitted(store, study(settings=20, replicates=40, per_job=4))
    worked(agents[0], 50)
    left = forecast.ask(store, campaign_id)
    assert left.nodes == 2
    assert left.time_left_s == pytest.approx(600 * RUN_S / 2, rel=0.15)
    assert left.time_left_low_s is not None
    assert left.time_left_high_s is not None
    assert left.time_left_low_s < 600 * RUN_S / 2 < left.time_left_high_s
    assert left.runs_per_s == pytest.approx(2 / RUN_S, rel=0.1)


def test_more_nodes_and_fewer_replicates_shorten_it(store: MemoryUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=20, replicates=40, per_job=4))
    worked(agent, 20)  # every setting has four runs
    now = forecast.ask(store, campaign_id).time_left_s
    three_times_the_nodes = forecast.ask(store, campaign_id, WhatIf(nodes=2)).time_left_s
    half = forecast.ask(store, campaign_id, WhatIf(replicates=20)).time_left_s
    double = forecast.ask(store, campaign_id, WhatIf(replicates=80)).time_left_s
    assert now is not None
    assert three_times_the_nodes == pytest.approx(now / 3, rel=0.1)
    assert half == pytest.approx(now * 16 / 36, rel=0.1)
    assert double == pytest.approx(now * 76 / 36, rel=0.1)


def test_without_a_node_nobody_can_tell_and_it_says_so(store: MemoryUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=2, replicates=2))
    worked(agent, 1)
    store.nodes.drain("n1")
    left = forecast.ask(store, campaign_id)
    assert (left.time_left_s, left.reason) == (None, "no node works on it")
    assert forecast.ask(store, campaign_id, WhatIf(nodes=1)).time_left_s is not None


def test_an_earlier_campaign_goes_first_unless_it_is_paused(store: MemoryUnderTest) -> None:
    Agent(store)
    first = submitted(store, study(settings=10, replicates=4, key="a"))
    second = submitted(store, study(settings=10, replicates=4, key="b", digest="another"))
    alone, behind = (forecast.ask(store, one).time_left_s for one in (first, second))
    assert alone is not None
    assert behind == pytest.approx(2 * alone, rel=0.2)
    store.campaigns.pause(first)
    assert forecast.ask(store, second).time_left_s == pytest.approx(alone, rel=0.2)


def test_of_what_has_ended_nothing_is_left(store: MemoryUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    agent.work_off()
    assert forecast.ask(store, campaign_id).time_left_s == 0.0
    with pytest.raises(NotFoundError):
        forecast.ask(store, 99)


def test_the_forecaster_tells_every_open_campaign_and_progress_shows_it(store: MemoryUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=20, replicates=40, per_job=4))
    worked(agent, 10)
    Forecaster(store).once()
    progress = store.campaigns.progress(campaign_id)
    assert progress.time_left_low_s is not None
    assert progress.time_left_s is not None
    assert progress.time_left_high_s is not None
    assert 0 < progress.time_left_low_s < progress.time_left_s < progress.time_left_high_s
    assert [rate.node for rate in store.rates.of_campaign(campaign_id)] == ["n1"]


def test_the_forecaster_of_an_empty_ledger_does_nothing() -> None:
    Forecaster(MemoryStore()).once()
