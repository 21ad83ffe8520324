"""Samples with two density modes whose cause is known, as a campaign would measure them: the truth for attribution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from analysis.attribution import Runs

FAST, SLOW, SPREAD = 1_200_000.0, 900_000.0, 40_000.0


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Where and when runs are made: `jobs` of `per_job` runs, dealt to `nodes` in complete rounds."""

    nodes: int
    jobs: int
    per_job: int

    @property
    def n(self) -> int:
        """Number of runs."""
        return self.jobs * self.per_job


PLANS = (
    Plan(nodes=4, jobs=15, per_job=10),
    Plan(nodes=6, jobs=30, per_job=5),
    Plan(nodes=8, jobs=30, per_job=10),
    Plan(nodes=12, jobs=36, per_job=5),
)


@dataclass(frozen=True, kw_only=True)
class Bench:
    """The circumstances of the runs of one configuration."""

    nodes: np.ndarray
    jobs: np.ndarray
    sessions: np.ndarray
    temperature_c: np.ndarray
    frequency_khz: np.ndarray


def circumstances(plan: Plan, rng: np.random.Generator) -> Bench:
    """Nodes differ a little in temperature, which wanders; one node in three was restarted half-way."""
    dealt = np.concatenate([rng.permutation(plan.nodes) for _ in range(-(-plan.jobs // plan.nodes))])[: plan.jobs]
    nodes = np.repeat(dealt, plan.per_job)
    restarted = rng.permutation(plan.nodes)[: max(1, plan.nodes // 3)]
    later = np.arange(plan.n) >= plan.n // 2
    sessions = nodes * 2 + (np.isin(nodes, restarted) & later)
    wander = np.repeat(rng.normal(0, 3, plan.jobs), plan.per_job) + rng.normal(0, 3, plan.n)
    return Bench(
        nodes=nodes,
        jobs=np.repeat(np.arange(plan.jobs), plan.per_job),
        sessions=sessions,
        temperature_c=62 + rng.normal(0, 2, plan.nodes)[nodes] + wander,
        frequency_khz=2_400_000 + rng.normal(0, 5_000, plan.n),
    )


def by_node(bench: Bench, rng: np.random.Generator) -> np.ndarray:
    """A quarter of the nodes, at least one, is slow."""
    count = int(np.max(bench.nodes)) + 1
    return np.isin(bench.nodes, rng.permutation(count)[: max(1, count // 4)])


def by_session(bench: Bench, rng: np.random.Generator) -> np.ndarray:
    """The restarted nodes are slow since then."""
    return bench.sessions % 2 == 1


def by_temperature(bench: Bench, rng: np.random.Generator) -> np.ndarray:
    """The hottest third of runs is slow."""
    return bench.temperature_c > np.quantile(bench.temperature_c, 2 / 3)


def by_order(bench: Bench, rng: np.random.Generator) -> np.ndarray:
    """From some run in the middle half on, all are slow."""
    n = len(bench.nodes)
    return np.arange(n) >= rng.integers(n // 4, 3 * n // 4)


def by_warm_up(bench: Bench, rng: np.random.Generator) -> np.ndarray:
    """The first run of every job is slow; of long jobs the first two."""
    per_job = len(bench.jobs) // len(np.unique(bench.jobs))
    return np.arange(len(bench.jobs)) % per_job < (2 if per_job >= 10 else 1)


def by_chance(bench: Bench, rng: np.random.Generator) -> np.ndarray:
    """Two fifths of runs, whichever they are."""
    return rng.random(len(bench.nodes)) < 0.4


def by_job(bench: Bench, rng: np.random.Generator) -> np.ndarray:
    """Two fifths of jobs, whichever they are: nothing that is observed goes with it."""
    slow = rng.random(int(np.max(bench.jobs)) + 1) < 0.4
    return slow[bench.jobs]


EFFECTS: Mapping[str, Callable[[Bench, np.random.Generator], np.ndarray]] = {
    "node": by_node,
    "session": by_session,
    "temperature": by_temperature,
    "order of runs": by_order,
    "place in job": by_warm_up,
}
NULLS: Mapping[str, Callable[[Bench, np.random.Generator], np.ndarray]] = {
    "by chance": by_chance,
    "by job": by_job,
}


def runs(
    plan: Plan,
    cause: Callable[[Bench, np.random.Generator], np.ndarray],
    rng: np.random.Generator,
    *,
    separation: float = 5.0,
    stray: float = 0.05,
) -> Runs:
    """A sample; modes `separation` standard deviations apart, and a share `stray` of runs in the other mode."""
    bench = circumstances(plan, rng)
    slow = cause(bench, rng) ^ (rng.random(plan.n) < stray)
    values = np.where(slow, FAST - separation * SPREAD, FAST) + rng.normal(0, SPREAD, plan.n)
    return Runs(
        values=values,
        nodes=tuple(f"m{node + 1:02}" for node in bench.nodes),
        jobs=tuple(map(str, bench.jobs)),
        sessions=tuple(f"{session % 2 + 1} of m{session // 2 + 1:02}" for session in bench.sessions),
        started_at=1.6e9 + np.arange(plan.n) * 30.0,
        numbers={"temperature": bench.temperature_c, "frequency": bench.frequency_khz},
    )
