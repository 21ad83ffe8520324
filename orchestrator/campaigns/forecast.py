"""The time left of a campaign: what is still to be done, by what it costs, on the nodes that do it.

Earlier campaigns go first (`dispatch`), so a campaign begins when those before it have nothing left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array, Indices
from analysis.service_rate.time_left import (
    SPEED_PRIOR_SD,
    Node,
    OpenJobs,
    TimeLeft,
    jobs_one_by_one,
    rest_of_job_s,
    time_left,
    with_more_nodes,
)
from orchestrator.campaigns.speed import Costs, Speed
from orchestrator.contracts.campaigns import Campaign, State
from orchestrator.contracts.engines import IMPORTED
from orchestrator.contracts.rates import Forecast, FoundRate, OpenWork
from orchestrator.store.ports import Store

CAMPAIGN_RATE_Z = 1.96
JOBS_AT_FIRST, JOBS_A_TURN = 2000, 500
"""Of which runs are read, the latest; only runs of milliseconds bring more in a turn, most to be forgotten soon."""
OVERLAP_S = 10.0
"""A job's end is noted before its transaction is committed: look back a little, and leave out what was seen."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WhatIf:
    """What would be otherwise."""

    nodes: int = 0
    """So many more, or fewer."""
    replicates: int | None = None
    """So many of each setting, instead of those of the study."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """What one campaign's runs say now."""

    forecast: Forecast
    rates: list[FoundRate]
    left: TimeLeft
    """For those who come after it."""


AS_IT_IS = WhatIf()
NOTHING_AHEAD = TimeLeft(median_s=0.0, low_s=0.0, high_s=0.0, nodes=0)


def running(store: Store) -> list[Campaign]:
    """Campaigns that are not over, in the order in which they get their nodes; what is imported wants none."""
    found = (one for one in store.campaigns.all() if one.state is State.RUNNING and one.engine != IMPORTED)
    return sorted(found, key=lambda one: one.id)


def ask(store: Store, campaign_id: int, what_if: WhatIf = AS_IT_IS, *, seed: int = 0) -> Forecast:
    """The time left if things were otherwise, from the rows of the ledger. Raises NotFoundError."""
    wanted = store.campaigns.get(campaign_id)
    if wanted.state is not State.RUNNING:
        return Forecast(
            runs_per_s=None,
            low_per_s=None,
            high_per_s=None,
            time_left_s=0.0,
            time_left_low_s=0.0,
            time_left_high_s=0.0,
            nodes=0,
            reason=f"it is {wanted.state}",
        )
    rng, ahead = np.random.default_rng(seed), NOTHING_AHEAD
    for earlier in running(store):
        if earlier.id < campaign_id and not earlier.paused:
            speed = Speed(store.campaigns.study(earlier.id))
            ahead = find(store, earlier, speed, rng, ahead=ahead, what_if=WhatIf(nodes=what_if.nodes)).left
    speed = Speed(store.campaigns.study(campaign_id))
    return find(store, wanted, speed, rng, ahead=ahead, what_if=what_if).forecast


def find(
    store: Store,
    campaign: Campaign,
    speed: Speed,
    rng: np.random.Generator,
    *,
    ahead: TimeLeft = NOTHING_AHEAD,
    what_if: WhatIf = AS_IT_IS,
) -> Found:
    """Read what is new, and say what follows."""
    most = JOBS_AT_FIRST if speed.known_until == 0 else JOBS_A_TURN
    speed.learn(store.rates.completions(campaign.id, after=speed.known_until - OVERLAP_S, jobs=most))
    work = store.rates.open_work(campaign.id)
    costs = speed.costs()
    rates = speed.rates(costs)
    nodes = _nodes(speed, costs, work, what_if.nodes)
    jobs = _open_jobs(campaign, speed, work, nodes, what_if)
    left = _after(ahead, time_left(jobs, costs.model, nodes, rng, elapsed_s=work.elapsed_s))
    low, rate, high = _together(nodes, rates, costs)
    forecast = Forecast(
        runs_per_s=rate,
        low_per_s=low,
        high_per_s=high,
        time_left_s=left.median_s,
        time_left_low_s=left.low_s,
        time_left_high_s=left.high_s,
        nodes=left.nodes,
        reason=left.reason,
    )
    return Found(forecast=forecast, rates=rates, left=left)


def _nodes(speed: Speed, costs: Costs, work: OpenWork, more: int) -> list[Node]:
    """Those at work, with what they have in hand; and those that would be there beside, or fewer."""
    known = speed.node_speeds(costs)
    held = {one.node: one for one in work.in_hand}
    nodes = []
    for name in work.nodes:
        value, sd = known.get(name, (1.0, 2 * SPEED_PRIOR_SD))
        free_in_s = 0.0
        if name in held:
            expected_s = held[name].missing * float(costs.model.mean_s[held[name].setting]) / value
            since = speed.last_seen(name)
            free_in_s = rest_of_job_s(expected_s, 0.0 if since is None else max(work.now - since, 0.0))
        nodes.append(Node(name=name, speed=value, speed_sd=sd, free_in_s=free_in_s))
    return with_more_nodes(nodes, more) if more >= 0 else nodes[: max(len(nodes) + more, 0)]


def _open_jobs(campaign: Campaign, speed: Speed, work: OpenWork, nodes: Sequence[Node], what_if: WhatIf) -> OpenJobs:
    """Jobs that wait: the last few one by one, all before them as one a setting, for these fill every node evenly."""
    setting = np.array(work.settings, dtype=np.int64)
    runs = np.array(work.replicates, dtype=np.int64)
    names = {node.name for node in nodes}
    back = [one for one in work.in_hand if one.node not in names]  # its holder is away: somebody will do it again
    if what_if.replicates is not None:
        runs = np.clip(what_if.replicates - np.array(work.first_replicates, dtype=np.int64), 0, runs)
    more = 0 if what_if.replicates is None else max(what_if.replicates - campaign.replicates, 0)
    every = np.arange(campaign.settings) if more else np.empty(0, dtype=np.int64)
    setting = np.concatenate([every, np.array([one.setting for one in back], dtype=np.int64), setting[runs > 0]])
    runs = np.concatenate(
        [np.full(len(every), more), np.array([one.missing for one in back], dtype=np.int64), runs[runs > 0]]
    )
    return shortened(setting, runs, between_jobs_s=speed.between_jobs_s, last=jobs_one_by_one(len(nodes)))


def shortened(setting: Indices, runs: Indices, *, between_jobs_s: float, last: int) -> OpenJobs:
    """The last so many jobs as they are; all before them as one a setting."""
    first = max(len(setting) - last, 0)
    total = np.bincount(setting[:first], runs[:first]).astype(np.int64)
    jobs = np.bincount(setting[:first])
    some = np.flatnonzero(jobs)
    beside: Array = np.concatenate([jobs[some], np.ones(len(setting) - first)]) * between_jobs_s
    return OpenJobs(
        setting=np.concatenate([some, setting[first:]]),
        runs=np.concatenate([total[some], runs[first:]]),
        beside_s=beside,
    )


def _after(ahead: TimeLeft, own: TimeLeft) -> TimeLeft:
    """First what is ahead, then its own."""
    if own.median_s is None or own.low_s is None or own.high_s is None:
        return own
    if ahead.median_s is None or ahead.low_s is None or ahead.high_s is None:
        return ahead
    return TimeLeft(
        median_s=ahead.median_s + own.median_s,
        low_s=ahead.low_s + own.low_s,
        high_s=ahead.high_s + own.high_s,
        nodes=own.nodes,
    )


def _together(
    nodes: Sequence[Node], rates: Sequence[FoundRate], costs: Costs
) -> tuple[float | None, float | None, float | None]:
    """What all nodes do together, with a 95 % interval; a node of which little is known counts by its speed."""
    if not costs.learned or not nodes:
        return None, None, None
    known = {rate.node: rate for rate in rates}
    average = 1 / (costs.typical_s * float(np.mean(np.exp(costs.model.residuals))))
    rate = below = above = 0.0
    for node in nodes:
        found = known.get(node.name)
        if found is not None:
            rate += found.runs_per_s
            below += (found.runs_per_s - found.low_per_s) ** 2
            above += (found.high_per_s - found.runs_per_s) ** 2
        else:
            rate += average * node.speed
            below += (CAMPAIGN_RATE_Z * average * node.speed * node.speed_sd) ** 2
            above += (CAMPAIGN_RATE_Z * average * node.speed * node.speed_sd) ** 2
    return max(rate - below**0.5, 0.0), rate, rate + above**0.5
