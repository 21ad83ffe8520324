"""Rounds that wait for the same node again and again are an event, once, with what differs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from orchestrator.campaigns import criticality
from orchestrator.campaigns.round_watch import RoundWatch
from orchestrator.contracts.campaigns import EventKind
from orchestrator.store.memory import MemoryStore
from tests.contract.agents import Agent
from tests.contract.stores import MemoryUnderTest
from tests.contract.studies import in_lockstep, submitted

NODES = ("n1", "n2", "n3")


class Rounds:
    """Three nodes in lockstep."""

    def __init__(self, store: MemoryUnderTest, rounds: int) -> None:
        self.store = store
        self.agents = [Agent(store, node) for node in NODES]
        self.campaign_id = submitted(store, in_lockstep(NODES, rounds=rounds))
        self.rng = np.random.default_rng(4)

    def go_on(self, rounds: int, *, slow: str | None = None) -> None:
        """`slow` takes half a second longer in four of five, and is warmer all the time."""
        for _ in range(rounds):
            taken = [agent.take() for agent in self.agents]
            start_at = [self.store.jobs.line_up(job.job_id, job.token) for job in taken][-1].start_at
            for agent, job in zip(self.agents, taken, strict=True):
                is_slow = agent.node == slow
                delay_s = 0.05 * abs(self.rng.normal()) + 0.5 * (is_slow and self.rng.random() < 0.8)
                warmth = {"temperature_c": 40 + 8 * is_slow + self.rng.normal(), "foreign_cpus": self.rng.random()}
                run = agent.run(job)
                began_at = (start_at or 0.0) + 0.001
                agent.record(replace(run, started_at=began_at, elapsed_s=1 + delay_s, observed=warmth))
                agent.finish(job)
            self.store.pass_time(2.0)

    def events(self) -> list[str]:
        """Oldest first."""
        told = self.store.campaigns.events(self.campaign_id)
        return [one.message for one in reversed(told) if one.kind is EventKind.NODE_CRITICAL]


@pytest.fixture
def store() -> MemoryUnderTest:
    return MemoryUnderTest()


def test_a_node_that_becomes_critical_is_told_once_with_what_differs_and_again_when_it_is_over(
    store: MemoryUnderTest,
) -> None:
    rounds = Rounds(store, 400)
    watch = RoundWatch(store)
    rounds.go_on(60)
    watch.once()
    assert rounds.events() == []
    rounds.go_on(80, slow="n2")
    watch.once()
    (message,) = rounds.events()
    assert message.startswith("node n2 critical in ")
    assert "% of rounds since" in message
    assert "temperature at the end (°C) is what differs (4" in message
    rounds.go_on(10, slow="n2")
    watch.once()
    RoundWatch(store).once()  # another controller
    assert rounds.events() == [message]
    (kept,) = store.lockstep.critical(rounds.campaign_id)
    assert (kept.node, kept.named) == ("n2", True)
    assert 75 <= kept.rounds <= 100
    rounds.go_on(60)
    watch.once()
    assert rounds.events()[1:] == [
        f"node n2 is no longer critical again and again, as it was since {message.split('since ')[1].split(' (')[0]}"
    ]


def test_where_nobody_is_slow_nothing_is_told(store: MemoryUnderTest) -> None:
    rounds = Rounds(store, 150)
    watch = RoundWatch(store)
    for _ in range(5):
        rounds.go_on(30)
        watch.once()
    assert rounds.events() == []


def test_a_round_that_others_may_still_be_at_is_not_looked_at(store: MemoryUnderTest) -> None:
    rounds = Rounds(store, 60)
    rounds.go_on(60, slow="n2")
    store.control.reconcile()  # it is over
    RoundWatch(store).once()
    assert rounds.events() == []  # nobody watched while it ran


def test_the_pages_figures_are_of_rounds_that_were_begun_together(store: MemoryUnderTest) -> None:
    rounds = Rounds(store, 120)
    rounds.go_on(120, slow="n3")
    found = criticality.nodes_of(store, rounds.campaign_id)
    assert (found.lockstep, found.rounds) == (True, 120)
    assert found.most_apart_s is not None
    assert found.most_apart_s < 0.01
    assert (found.nodes[0].node, found.nodes[0].stands_out) == ("n3", True)
    earlier, observed = found.models
    assert (earlier.verdict, observed.verdict) == ("better than chance",) * 2
    assert earlier.auc is not None
    assert earlier.auc > 0.7
    assert set(earlier.others) >= {"rate of the setting and node", "rate of the node", "label of the round before"}
    assert "temperature at the end (°C)" in {gain.name for gain in observed.gains}


def test_a_model_of_noise_is_no_better_than_chance(store: MemoryUnderTest) -> None:
    rounds = Rounds(store, 120)
    rounds.go_on(120)
    found = criticality.nodes_of(store, rounds.campaign_id)
    assert [one.verdict for one in found.models] == ["no better than chance"] * 2


def test_with_few_rounds_there_is_no_model_and_it_is_said_why() -> None:
    rounds = Rounds(MemoryUnderTest(), 20)
    rounds.go_on(20)
    found = criticality.nodes_of(rounds.store, rounds.campaign_id)
    assert found.models == ()
    assert found.no_model == f"{found.labelled_rounds} rounds reach 10 ms, and a model takes 40"


def test_an_empty_ledger_is_watched_in_vain() -> None:
    RoundWatch(MemoryStore()).once()
