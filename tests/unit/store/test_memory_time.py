"""The in-memory store on a clock of our own: the rules that are about seconds, at their edges."""

from __future__ import annotations

import pytest

from orchestrator.store import rules
from orchestrator.store.memory import MemoryStore
from tests.contract.agents import Agent
from tests.contract.stores import MemoryUnderTest
from tests.contract.studies import jobs, study, submitted


class Clock:
    """Seconds since the epoch, moved by hand."""

    def __init__(self) -> None:
        self.now = 1_000_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(clock: Clock) -> MemoryUnderTest:
    return MemoryUnderTest(clock)


def test_a_store_needs_no_clock_to_be_given() -> None:
    assert MemoryStore().campaigns.all() == []


def test_a_node_is_offline_after_forty_five_silent_seconds(store: MemoryUnderTest, clock: Clock) -> None:
    agent = Agent(store)
    clock.now += rules.ONLINE_S
    assert agent.shown().online
    clock.now += 1
    assert not agent.shown().online
    assert agent.shown().seen_s_ago == rules.ONLINE_S + 1


def test_a_lease_holds_for_the_time_out_and_its_margin(store: MemoryUnderTest, clock: Clock) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(engine_options={"timeout_s": 30.0}))
    agent.take()
    pass_time(store, clock, 44)
    assert jobs(store, campaign_id) == {"leased": 1}
    pass_time(store, clock, 1)
    assert jobs(store, campaign_id) == {"queued": 1}


def test_renewing_starts_the_lease_again_from_now(store: MemoryUnderTest, clock: Clock) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(engine_options={"timeout_s": 30.0}))
    job = agent.take()
    pass_time(store, clock, 40)
    store.jobs.renew(job.job_id, job.token)
    pass_time(store, clock, 40)
    assert jobs(store, campaign_id) == {"leased": 1}


def test_an_offer_is_sent_again_once_it_is_old_and_then_counts_as_young(store: MemoryUnderTest, clock: Clock) -> None:
    Agent(store)
    submitted(store, study())
    store.control.dispatch()
    clock.now += 2.9
    assert store.control.unheard(older_than_s=3.0) == []
    clock.now += 0.1
    assert len(store.control.unheard(older_than_s=3.0)) == 1
    assert store.control.unheard(older_than_s=3.0) == []


def test_the_rate_is_that_of_the_last_minute(store: MemoryUnderTest, clock: Clock) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(replicates=10, per_job=5))
    agent.measure(agent.take())
    clock.now += 30
    assert store.campaigns.progress(campaign_id).runs_per_s == 5 / 30
    clock.now += 60
    assert store.campaigns.progress(campaign_id).runs_per_s == 0.0


def pass_time(store: MemoryUnderTest, clock: Clock, seconds: int) -> None:
    """While a controller looks every second."""
    for _ in range(seconds):
        clock.now += 1
        store.control.reconcile()
