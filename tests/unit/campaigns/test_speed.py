"""Rates of nodes and costs of settings, from runs as the ledger tells them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from uuid import uuid4

import numpy as np
import pytest

from orchestrator import words
from orchestrator.campaigns.speed import RUNS_A_NODE, Speed
from orchestrator.contracts.rates import Completion
from tests.contract.studies import study

RUNS_A_JOB = 5
SETTINGS = 12


def a_node_at_work(
    name: str,
    rng: np.random.Generator,
    *,
    jobs: int,
    slower_from: int = 10**9,
    factor: float = 2.0,
    overhead_s: float = 0.0,
) -> Iterator[Completion]:
    """Jobs of random settings; setting k takes some k + 1 seconds a run, and from a job on `factor` times as long."""
    session, now, sequence = uuid4(), 1_000_000.0, 0
    for job in range(jobs):
        setting = int(rng.integers(SETTINGS))
        now += 0.5
        for _ in range(RUNS_A_JOB):
            elapsed_s = (setting + 1) * float(np.exp(0.2 * rng.standard_normal()))
            elapsed_s *= factor if job >= slower_from else 1.0
            yield Completion(
                job_id=job, setting=setting, node=name, session=session, sequence=sequence,
                started_at=now, elapsed_s=elapsed_s, done_at=now,
            )  # fmt: skip
            now += elapsed_s + overhead_s
            sequence += 1


def learned(*nodes: Iterator[Completion]) -> Speed:
    speed = Speed(study(settings=SETTINGS, replicates=100, control=True))
    for runs in nodes:
        speed.learn(runs)
    return speed


def test_a_nodes_rate_is_in_runs_of_average_cost_whatever_it_was_given() -> None:
    rng = np.random.default_rng(1)
    speed = learned(*(a_node_at_work(f"m{n}", rng, jobs=60) for n in range(4)))
    rates = speed.rates(speed.costs())
    assert [rate.node for rate in rates] == ["m0", "m1", "m2", "m3"]
    assert max(rate.runs_per_s for rate in rates) < 1.25 * min(rate.runs_per_s for rate in rates)
    assert all(rate.low_per_s < rate.runs_per_s < rate.high_per_s for rate in rates)
    assert [rate.change for rate in rates] == [None] * 4


@pytest.mark.parametrize("factor", [2.0, 0.5])
def test_a_node_whose_rate_changes_is_told_with_both_rates_and_the_time(factor: float) -> None:
    rng = np.random.default_rng(2)
    steady = [a_node_at_work(f"m{n}", rng, jobs=80) for n in range(3)]
    changed = list(a_node_at_work("m07", rng, jobs=80, slower_from=40, factor=factor))
    speed = learned(*steady, iter(changed))
    rates = {rate.node: rate for rate in speed.rates(speed.costs())}
    found, others = rates.pop("m07"), list(rates.values())
    assert [rate.change for rate in others] == [None] * 3
    assert found.change is not None
    assert found.change.startswith(f"node m07 {'fell' if factor > 1 else 'rose'} from ")
    true = changed[40 * RUNS_A_JOB].started_at
    assert abs(found.since - true) < 0.1 * (changed[-1].started_at - changed[0].started_at)
    assert found.runs_per_s * factor == pytest.approx(np.mean([rate.runs_per_s for rate in others]), rel=0.2)


def test_jobs_listed_by_their_size_are_no_change_of_rate() -> None:
    rng = np.random.default_rng(3)
    nodes = [list(a_node_at_work(f"m{n}", rng, jobs=60)) for n in range(3)]
    listed = []
    for runs in nodes:
        by_size = sorted(runs, key=lambda run: run.setting)
        listed.append([replace(run, sequence=n, job_id=n, started_at=100.0 * n) for n, run in enumerate(by_size)])
    speed = learned(*map(iter, listed))
    assert [rate.change for rate in speed.rates(speed.costs())] == [None] * 3


def test_what_a_run_takes_beside_the_benchmark_is_the_nodes_time_and_what_lies_between_jobs_is_not() -> None:
    rng = np.random.default_rng(4)
    quick, slow = (learned(a_node_at_work("m0", rng, jobs=60, overhead_s=s)) for s in (0.0, 20.0))
    (without,), (with_overhead,) = quick.rates(quick.costs()), slow.rates(slow.costs())
    assert with_overhead.runs_per_s < 0.6 * without.runs_per_s
    assert quick.between_jobs_s == pytest.approx(0.5, abs=0.01)


def test_runs_seen_before_are_not_counted_twice_and_memory_has_an_end() -> None:
    rng = np.random.default_rng(5)
    runs = list(a_node_at_work("m0", rng, jobs=200))
    speed = learned(iter(runs))
    once = speed.rates(speed.costs())
    speed.learn(runs)
    assert speed.rates(speed.costs()) == once
    assert once[0].runs <= RUNS_A_NODE


def test_before_the_first_runs_nothing_is_said_of_nodes() -> None:
    speed = learned()
    assert speed.rates(speed.costs()) == []
    assert not speed.costs().learned
    assert len(speed.costs().model.mean_s) == SETTINGS + 1


def test_rates_are_told_a_minute_with_two_figures() -> None:
    assert [words.rate(per_s) for per_s in (0.0052, 0.0516, 20.7)] == ["0.31", "3.1", "1,242"]
