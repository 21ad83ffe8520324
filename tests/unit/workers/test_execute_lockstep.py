"""A job in lockstep: its run begins at the instant that its round was given, and a second try is for later."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from orchestrator.contracts.jobs import LineUp, State
from tests.contract.agents import Agent as Other
from tests.contract.stores import MemoryUnderTest
from tests.contract.studies import in_lockstep, submitted
from tests.unit.workers.test_execute import BAD, GOOD, Scripted
from workers.agent import Agent
from workers.benchmarks import engines
from workers.benchmarks.port import Outcome

NODES = ("n1", "n2")


@dataclass(kw_only=True)
class Pair:
    """An agent, and another one that is ready for its part of the first round."""

    store: MemoryUnderTest
    agent: Agent
    campaign: int
    job_id: int

    def state(self) -> State:
        return self.store.job_states()[self.job_id]


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    monkeypatch.setattr(engines, "available", lambda _bench: {"replay": "1"})
    store = MemoryUnderTest()
    agent = Agent(store, node="n1", home=tmp_path)
    agent.start()
    other = Other(store, "n2")
    planned = replace(in_lockstep(NODES), engine="replay", engine_options={"mixture": "normal:1,1000,1"})
    campaign_id = submitted(store, planned)
    offers = {offer.node: offer.job_id for offer in store.control.dispatch()}
    theirs = other.claim(offers["n2"])
    assert theirs is not None
    assert store.jobs.line_up(theirs.job_id, theirs.token).start_at is None
    yield Pair(store=store, agent=agent, campaign=campaign_id, job_id=offers["n1"])
    agent.close()


def played(monkeypatch: pytest.MonkeyPatch, *outcomes: Outcome) -> None:
    scripted = Scripted(*outcomes)
    monkeypatch.setattr(engines, "engine", lambda _name, _options, _bench: scripted)


def test_it_begins_at_the_instant_that_was_given_to_all(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    played(monkeypatch, GOOD)
    pair.agent.run_job(pair.job_id)
    assert pair.state() is State.DONE
    (finish,) = pair.store.lockstep.finished(pair.campaign, jobs=10)
    assert finish.started_at >= finish.start_at


def test_an_invalid_run_gives_the_job_back(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    played(monkeypatch, BAD, GOOD)
    pair.agent.run_job(pair.job_id)
    assert pair.state() is State.QUEUED
    assert pair.store.campaigns.progress(pair.campaign).invalid_runs == 1


def test_whoever_is_told_to_leave_does_not_wait(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    played(monkeypatch, GOOD)

    def leave(_job_id: int, _token: object) -> LineUp:
        pair.agent.leave()
        return LineUp(granted=True, again_s=0.0)

    monkeypatch.setattr(pair.store.jobs, "line_up", leave)
    pair.agent.run_job(pair.job_id)
    assert pair.state() is State.QUEUED
    assert pair.store.campaigns.progress(pair.campaign).invalid_runs == 0


def test_who_is_refused_begins_nothing(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    played(monkeypatch, GOOD)
    monkeypatch.setattr(pair.store.jobs, "line_up", lambda _job_id, _token: LineUp(granted=False, stop="cancel"))
    pair.agent.run_job(pair.job_id)
    assert pair.state() is State.QUEUED
