"""A producer, a bounded queue and a consumer, simulated; and what an observer with a noisy clock sees of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analysis.arrays import Array, Flags
from analysis.service_rate import CountEstimator, Estimate, Outcome, TimeEstimator, change_between, period

ITEM_BYTES = 8
CAPACITY = 64
RESOLUTION_S = 50e-9
JITTER_S = 50e-9
PREEMPTED_SHARE, PREEMPTED_S = 1e-3, 10e-6
"""One reading of the clock in a thousand comes late, for the observer lost its core."""
MISSED_FLAGS = 0.05
"""The observer and the queue are not synchronised: some blocked periods pass for unblocked ones."""
PERIODS = 2000
"""The longest period is such that a run has so many."""
STRETCHES = 10


@dataclass(frozen=True, kw_only=True)
class Settings:
    """(r,) nominal rates in items/s before and after half of the items; utilisation; deterministic service or not."""

    rate: Array
    rate_after: Array
    utilisation: Array
    deterministic: Flags

    @property
    def constant(self) -> Flags:
        return self.rate == self.rate_after


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run: (n,) moments at which items were there and were finished."""

    arrived_s: Array
    done_s: Array
    change_s: float


def draw(count: int, rng: np.random.Generator, *, dual: bool = False) -> Settings:
    """Set rates of 0.8 to 8 MB/s, utilisations of 0.1 to 1.2; in dual runs at least 25 % between the phases."""
    rate = np.exp(rng.uniform(np.log(0.8e6), np.log(8e6), count)) / ITEM_BYTES
    ratio = np.exp(rng.uniform(np.log(1.25), np.log(3), count)) if dual else np.ones(count)
    return Settings(
        rate=rate,
        rate_after=rate * np.where(rng.random(count) < 0.5, ratio, 1 / ratio),
        utilisation=rng.uniform(0.1, 1.2, count),
        deterministic=rng.random(count) < 0.5,
    )


def simulate(settings: Settings, items: int, rng: np.random.Generator) -> Iterator[Run]:
    """Item after item, all runs at once: a producer waits for a place, the consumer for an item.

    The utilisation is that of the faster phase.
    """
    runs = len(settings.rate)
    arrived, done = np.zeros((items, runs)), np.zeros((items, runs))
    between = 1 / (settings.utilisation * np.maximum(settings.rate, settings.rate_after))
    for n in range(items):
        mean = 1 / (settings.rate if n < items // 2 else settings.rate_after)
        service = np.where(settings.deterministic, mean, mean * rng.standard_exponential(runs))
        arrived[n] = (arrived[n - 1] if n else 0.0) + between * rng.standard_exponential(runs)
        if n >= CAPACITY:
            np.maximum(arrived[n], done[n - CAPACITY], out=arrived[n])
        done[n] = np.maximum(arrived[n], done[n - 1] if n else 0.0) + service
    for r in range(runs):
        yield Run(arrived_s=arrived[:, r], done_s=done[:, r], change_s=float(done[items // 2 - 1, r]))


def read_clock(moments_s: Array, rng: np.random.Generator) -> Array:
    """The moments as the observer's clock tells them: late at times, jittered, in whole steps."""
    late = np.where(rng.random(len(moments_s)) < PREEMPTED_SHARE, rng.exponential(PREEMPTED_S, len(moments_s)), 0)
    told = moments_s + late + rng.normal(0, JITTER_S, len(moments_s))
    return np.maximum.accumulate(np.round(told / RESOLUTION_S) * RESOLUTION_S)


def counted(run: Run, period_s: float, until_s: float, rng: np.random.Generator) -> tuple[Array, Array, Flags]:
    """Ends of periods, items finished in each, and whether the consumer starved in it (as far as flags tell)."""
    told = np.arange(1, int(until_s / period_s)) * period_s
    late = np.where(rng.random(len(told)) < PREEMPTED_SHARE, rng.exponential(PREEMPTED_S, len(told)), 0)
    edges = np.maximum.accumulate(told + np.abs(rng.normal(0, JITTER_S, len(told))) + late)
    count = np.diff(np.searchsorted(run.done_s, edges, side="right")).astype(np.float64)
    before = np.concatenate([[0.0], run.done_s[:-1]])
    starved = run.arrived_s > before
    begins, ends = before[starved], run.arrived_s[starved]
    blocked = np.searchsorted(begins, edges[1:]) > np.searchsorted(ends, edges[:-1], side="right")
    return told[1:], count, blocked & (rng.random(len(blocked)) >= MISSED_FLAGS)


def find_period(run: Run, from_s: float, until_s: float, rng: np.random.Generator) -> period.Period:
    """Search on a stretch of a run."""

    def observe(period_s: float) -> period.Trial:
        time_s, count, blocked = counted(run, period_s, until_s, rng)
        within = time_s > from_s
        count, blocked = count[within], blocked[within]
        items = float(np.mean(count[~blocked])) if np.any(~blocked) else 0.0
        return period.Trial(blocked_share=float(np.mean(blocked)), realised_s=period_s, items=items)

    return period.search(observe, resolution_s=8 * RESOLUTION_S, longest_s=float(run.done_s[-1]) / PERIODS)


def observe(run: Run, rng: np.random.Generator) -> tuple[str, list[Outcome]]:
    """What the estimators say: from counts as long as there is a period for them, then from inter-completion times.

    The search is made in the first stretch, and again in every other.
    """
    stretches = np.linspace(0, float(run.done_s[-1]), STRETCHES + 1)
    period_s, until_s = None, 0.0
    for begin_s, end_s in pairwise(stretches.tolist()):
        found = find_period(run, begin_s, end_s, rng)
        if found.period_s is None:
            break
        period_s, until_s = period_s or found.period_s, end_s
    outcomes = [] if period_s is None else list(from_counts(run, period_s, until_s, rng))
    if until_s < run.done_s[-1]:
        outcomes = _on_another_basis(outcomes, list(from_times(run, until_s, rng)))
    return ("times" if period_s is None else "counts" if until_s >= run.done_s[-1] else "both"), outcomes


def _on_another_basis(before: list[Outcome], after: list[Outcome]) -> list[Outcome]:
    """What was told, with a change of phase in between if the rates before and after tell one."""
    last = next((one for one in reversed(before) if isinstance(one, Estimate)), None)
    first = next((one for one in after if isinstance(one, Estimate)), None)
    change = None if last is None or first is None else change_between(last, first)
    return before + ([] if change is None else [change]) + after


def from_counts(run: Run, period_s: float, until_s: float, rng: np.random.Generator) -> Iterator[Outcome]:
    estimator = CountEstimator(period_s=period_s)
    for time_s, count, blocked in zip(*map(np.ndarray.tolist, counted(run, period_s, until_s, rng)), strict=True):
        yield from estimator.add(time_s=time_s, count=count, blocked=blocked)
    yield from estimator.finish()


def from_times(run: Run, from_s: float, rng: np.random.Generator) -> Iterator[Outcome]:
    """Services that began with their item waiting: whether it waited is known before its service begins."""
    told = read_clock(run.done_s, rng)
    waited = run.arrived_s[1:] <= run.done_s[:-1]
    service_s = np.diff(told)
    usable = waited & (service_s > 0) & (told[1:] > from_s)
    estimator = TimeEstimator()
    for time_s, seconds in zip(told[1:][usable].tolist(), service_s[usable].tolist(), strict=True):
        yield from estimator.add(time_s=time_s, service_s=seconds)
    yield from estimator.finish()
