"""One job, from claim to give-back, on the in-memory store and the engine `replay`."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import Mock

import pytest

from orchestrator.contracts.errors import UnavailableError
from orchestrator.contracts.jobs import Ending, Failure, FailureKind, Renewal, State
from orchestrator.design import study
from orchestrator.design.submission import submission
from orchestrator.store.memory import MemoryStore
from workers.agent import Agent
from workers.benchmarks import engines
from workers.benchmarks.port import Failed, Outcome, Stopped, Succeeded, Task
from workers.node.settings.steps import Refusal

STUDY = """
name: a study
design:
  blocks:
    - levels: {{threads: [1], file_size_kb: [64], record_size_kb: [4]}}
      modes: [readers, rewriters]
replicates: {replicates}
replicates_per_job: {per_job}
engine: {engine}
max_tries: 2
"""
PLAYED = '{name: replay, mixture: "normal:1,1000,1"}'
NO_CPUFREQ = Refusal(setting="frequency", reason="no cpufreq here", remedy="frequency: as_is")


class Scripted:
    """An engine that ends as it is told, one outcome a run, and then as the last one."""

    name = "scripted"
    settle_s = None

    def __init__(self, *outcomes: Outcome) -> None:
        self._outcomes = list(outcomes)

    def version(self) -> str:
        return "1"

    def prepare(self, task: Task) -> None: ...

    def run(self, task: Task, replicate: int) -> Outcome:
        return self._outcomes.pop(0) if len(self._outcomes) > 1 else self._outcomes[0]


GOOD = Succeeded(values=(10.0, 20.0), elapsed_s=0.1, exit_status=0)
BAD = Failed(reason="no value for readers", output="garbled", elapsed_s=0.1, exit_status=0)


@dataclass(kw_only=True)
class Site:
    """An agent, its store, and one submitted campaign."""

    store: MemoryStore
    agent: Agent
    campaign: int

    def work(self) -> None:
        """Carry out what is offered now."""
        for offer in self.store.control.dispatch():
            self.agent.run_job(offer.job_id)

    def states(self) -> set[State]:
        return {State(state) for state in self.store.campaigns.progress(self.campaign).jobs}

    def export(self) -> list[tuple[int, str, float | None, str, str | None]]:
        rows = self.store.campaigns.export(self.campaign)
        return [(row.replicate, row.mode, row.value, row.valid, row.reason) for row in rows]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Site]]:
    agents: list[Agent] = []

    def build(*outcomes: Outcome, replicates: int = 3, per_job: int | None = None, engine: str = PLAYED) -> Site:
        if outcomes:
            scripted = Scripted(*outcomes)
            monkeypatch.setattr(engines, "engine", lambda _name, _options, _bench: scripted)
            monkeypatch.setattr(engines, "available", lambda _bench: {"replay": "1", "builtin": "1"})
        store = MemoryStore()
        agent = Agent(store, node="n1", home=tmp_path)
        agent.start()
        agents.append(agent)
        text = STUDY.format(replicates=replicates, per_job=per_job or replicates, engine=engine)
        campaign, _ = store.campaigns.submit(submission(study.load(text, where="study.yaml")))
        return Site(store=store, agent=agent, campaign=campaign.id)

    yield build
    for agent in agents:
        agent.close()


def test_every_replicate_is_measured_and_the_job_is_done(site: Callable[..., Site]) -> None:
    lab = site()
    lab.work()
    assert lab.states() == {State.DONE}
    assert [(replicate, mode) for replicate, mode, *_ in lab.export()] == [
        (replicate, mode) for replicate in range(3) for mode in ("readers", "rewriters")
    ]


def test_a_job_that_is_offered_by_then_is_gone_on_with_without_a_word(site: Callable[..., Site]) -> None:
    lab = site(replicates=6, per_job=2)
    lab.agent.run_job(lab.store.control.dispatch(outstanding=3)[0].job_id)
    assert lab.states() == {State.DONE}
    assert lab.store.campaigns.progress(lab.campaign).valid_runs == 6


def test_an_invalid_run_is_kept_and_its_replicate_tried_again(site: Callable[..., Site]) -> None:
    lab = site(BAD, GOOD, replicates=1)
    lab.work()
    assert lab.states() == {State.DONE}
    assert {(valid, reason) for *_, valid, reason in lab.export()} == {
        ("invalid", "no value for readers"),
        ("valid", None),
    }


def test_a_replicate_that_is_never_valid_fails_the_job_by_the_engine(site: Callable[..., Site]) -> None:
    lab = site(BAD, replicates=1)
    for _ in range(3):
        lab.work()
    assert lab.states() == {State.SET_ASIDE}
    lab.store.control.reconcile()
    assert lab.store.campaigns.get(lab.campaign).missing == {"invalid 2 times in a row: no value for readers": 1}


def test_a_stopped_run_is_no_run_and_the_job_goes_back(site: Callable[..., Site]) -> None:
    lab = site(GOOD, Stopped(elapsed_s=0.0))
    lab.work()
    assert lab.states() == {State.QUEUED}
    assert lab.store.campaigns.progress(lab.campaign).valid_runs == 1


def test_an_agent_that_is_leaving_starts_nothing(site: Callable[..., Site]) -> None:
    lab = site()
    offers = lab.store.control.dispatch()
    lab.agent.leave()
    lab.agent.run_job(offers[0].job_id)
    assert lab.store.campaigns.progress(lab.campaign).valid_runs == 0


def test_runs_wait_in_the_spool_while_the_database_is_away(
    site: Callable[..., Site], monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = site()

    def away(*_: object, **_named: object) -> None:
        raise UnavailableError

    with monkeypatch.context() as cut:
        cut.setattr(lab.store.jobs, "hand_over", away)
        cut.setattr(lab.store.runs, "record", away)
        lab.work()
        assert lab.states() == {State.LEASED}
        assert lab.store.campaigns.progress(lab.campaign).valid_runs == 0
    lab.agent.idle()
    assert lab.states() == {State.DONE}
    assert lab.store.campaigns.progress(lab.campaign).valid_runs == 3


def test_a_lease_that_was_lost_ends_the_job_and_keeps_its_runs(
    site: Callable[..., Site], monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = site()
    monkeypatch.setattr("workers.lease.Lease.is_short", lambda _lease: True)
    answers = iter([Renewal(granted=True), Renewal(granted=True, stop="pause")])
    monkeypatch.setattr(lab.store.jobs, "renew", lambda *_: next(answers))
    lab.work()
    assert lab.states() == {State.QUEUED}
    assert lab.store.campaigns.progress(lab.campaign).valid_runs == 1


def test_a_hint_about_a_job_of_somebody_else_changes_nothing(site: Callable[..., Site]) -> None:
    lab = site()
    lab.agent.run_job(12345)
    assert lab.states() == {State.QUEUED}


@pytest.fixture
def endings(monkeypatch: pytest.MonkeyPatch) -> Callable[[Site], list[tuple[Ending, Failure | None]]]:
    """How the agent of a site gives its jobs back, from now on."""

    def listen_to(lab: Site) -> list[tuple[Ending, Failure | None]]:
        told: list[tuple[Ending, Failure | None]] = []
        finish = lab.store.jobs.finish

        def listen(job: int, token: object, ending: Ending, failure: Failure | None = None) -> bool:
            told.append((ending, failure))
            return finish(job, token, ending, failure)  # type: ignore[arg-type]

        monkeypatch.setattr(lab.store.jobs, "finish", listen)
        return told

    return listen_to


def test_what_the_node_cannot_do_is_the_studys_failure(
    site: Callable[..., Site],
    endings: Callable[[Site], list[tuple[Ending, Failure | None]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lab = site(GOOD, engine="builtin")
    told = endings(lab)
    monkeypatch.setattr("workers.node.abilities.refused", lambda *_: (NO_CPUFREQ,))
    lab.work()
    assert told == [
        (
            Ending.FAIL,
            Failure(
                kind=FailureKind.STUDY,
                reason="no cpufreq here; `node: {frequency: as_is}` runs the study all the same",
            ),
        )
    ]


def test_a_full_disk_is_the_nodes_failure_wherever_it_shows(
    site: Callable[..., Site],
    endings: Callable[[Site], list[tuple[Ending, Failure | None]]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    lab = site(GOOD)
    told = endings(lab)
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr(Scripted, "run", Mock(side_effect=full))
    lab.work()
    reason = f"{tmp_path / 'nodes' / 'n1'}: {full.strerror}"
    assert told == [(Ending.FAIL, Failure(kind=FailureKind.NODE, reason=reason))]
