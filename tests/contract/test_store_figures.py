"""The whole service in numbers, for monitoring."""

from __future__ import annotations

import pytest

from orchestrator.contracts.analyses import Result
from orchestrator.contracts.jobs import FailureKind
from orchestrator.contracts.nodes import Hello
from tests.contract.agents import Agent
from tests.contract.stores import StoreUnderTest
from tests.contract.studies import study, submitted


def test_an_empty_ledger_has_nothing_to_count(store: StoreUnderTest) -> None:
    figures = store.overviews.figures()
    assert (figures.jobs, figures.runs, figures.invalid, figures.nodes) == ({}, {}, {}, ())
    assert (figures.fits, figures.fit_s, figures.lease_expiries) == (0, 0.0, 0)


def test_jobs_and_runs_are_counted_by_state_node_and_reason(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study(settings=3, replicates=2))
    job = agent.take()
    agent.record(agent.run(job, valid=False))
    agent.measure(job)
    agent.finish(job)
    store.control.dispatch()
    figures = store.overviews.figures()
    assert {state: count for state, count in figures.jobs.items() if count} == {"done": 1, "offered": 2}
    assert figures.campaigns == {"running": 1}
    assert figures.runs == {("n1", "valid"): 2, ("n1", "invalid"): 1, ("n1", "superseded"): 0}
    assert figures.invalid == {("n1", "exit status 1"): 1}
    assert {state: count for state, count in figures.analyses.items() if count} == {"due": 2}


def test_lease_expiries_are_told_from_other_failures(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study(settings=2))
    agent.fail(agent.take(), FailureKind.ENGINE)
    agent.take()
    store.expire_leases()
    store.control.reconcile()
    figures = store.overviews.figures()
    assert figures.failures == {"engine": 1, "lost": 1}
    assert figures.lease_expiries == 1


def test_what_fits_took_is_summed(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study())
    agent.work()
    batch = store.analyses.lease("1")
    assert batch is not None
    results = [
        Result(
            analysis_id=one.id, digest=one.digest, selection=None, verdict=None, sentence=None, error="-", fit_s=0.25
        )
        for one in batch.analyses
    ]
    store.analyses.store(batch, results)
    figures = store.overviews.figures()
    assert (figures.fits, figures.fit_s) == (2, pytest.approx(0.5))


def test_a_node_says_how_many_runs_had_waited_for_it(store: StoreUnderTest) -> None:
    agent = Agent(store)
    hello = Hello(node="n1", session=agent.session, boot_id="9a1b", version="0.1.0", engines={}, spool_runs=7)
    store.nodes.hello(hello)
    (node,) = store.overviews.figures().nodes
    assert (node.name, node.online, node.spool_runs) == ("n1", True, 7)
