"""Time left of a campaign, with an interval: open jobs by their expected cost, nodes by their speed.

Futures are drawn: costs of settings from what is known of them, runs from the residuals seen so far, speeds from each
node's record, nodes that are lost or slowed later at a small rate. In every future the jobs go to the node that is
free first. Asking "what if" is asking again with other nodes or fewer runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from analysis.arrays import Array, Indices
from analysis.errors import BadOptionsError
from analysis.service_rate.cost import CostModel

DRAWS = 400
TAIL_JOBS_A_NODE, TAIL_JOBS = 6, 1200
"""Earlier jobs fill all nodes evenly, whatever their order; only so many at the end are handed out one by one."""
MANY_NODES, FEWER_DRAWS = 64, 100
"""With many nodes every draw says more, and costs more."""
SPEED_PRIOR_SD = 0.1
SPEED_RUNS = 24
"""Latest runs that tell a node's speed: enough for a tenth, few enough to follow a change."""
LOST_SHARE, SLOWED_SHARE = 0.12, 0.12
"""Of nodes, in as long a time as the campaign has run or is to run: a prior, for fleets seldom stay as they are."""
SLOWED_TO = (0.4, 0.9)
IN_HAND_SD = 0.7
"""Of the logarithm of what is left of a job in hand: a factor of two."""


@dataclass(frozen=True, kw_only=True)
class Node:
    """A node that works on the campaign: its speed (1: that of the cost model) with its error as log sd."""

    name: str
    speed: float = 1.0
    speed_sd: float = SPEED_PRIOR_SD
    free_in_s: float = 0.0
    """Until the job in hand is done."""
    working: bool = True
    """False when drained, quarantined or lost."""


@dataclass(frozen=True, kw_only=True)
class OpenJobs:
    """Jobs that nobody has begun, in their order: (j,) index of the setting, and runs still to be made."""

    setting: Indices
    runs: Indices
    beside_s: Array | float = 0.0
    """(j,) or one for all: seconds that a job takes beside its runs."""

    def with_share_of_runs(self, share: float) -> "OpenJobs":
        """What if only this share of the replicates is made? Jobs keep at least one run."""
        if not 0 < share <= 1:
            raise BadOptionsError(f"a share of the replicates is above 0 and at most 1, not {share:g}")
        return replace(self, runs=np.maximum(1, np.rint(self.runs * share)).astype(np.int64))


@dataclass(frozen=True, kw_only=True)
class TimeLeft:
    """Seconds until the last job is done: median and 80 % interval. None where no node works."""

    median_s: float | None
    low_s: float | None
    high_s: float | None
    nodes: int
    reason: str = ""


def time_left(
    jobs: OpenJobs,
    costs: CostModel,
    nodes: Sequence[Node],
    rng: np.random.Generator,
    *,
    elapsed_s: float = 0.0,
    draws: int | None = None,
) -> TimeLeft:
    """Draw futures. `elapsed_s` is how long the campaign has run: the time scale on which nodes are lost."""
    working = [node for node in nodes if node.working]
    if draws is None:
        draws = DRAWS if len(working) <= MANY_NODES else FEWER_DRAWS
    if not working:
        return TimeLeft(median_s=None, low_s=None, high_s=None, nodes=0, reason="no node works on it")
    cost_s = _job_costs(jobs, costs, rng, draws)
    speed = _speeds(working, rng, draws)
    in_hand = np.exp(IN_HAND_SD * rng.standard_normal((draws, len(working))))
    free_s = np.array([node.free_in_s for node in working]) * in_hand
    steady_s = _makespan(cost_s, speed, free_s)
    ratio = steady_s / max(elapsed_s, float(np.median(steady_s)), 1e-9)
    left_s = steady_s * _misfortune(len(working), ratio, rng)
    low, median, high = np.quantile(left_s, [0.1, 0.5, 0.9])
    return TimeLeft(median_s=float(median), low_s=float(low), high_s=float(high), nodes=len(working))


def with_more_nodes(nodes: Sequence[Node], count: int) -> list[Node]:
    """What if so many more nodes worked on it? They are like the cost model's, with the prior's doubt."""
    more = [Node(name=f"new {i + 1}", speed_sd=2 * SPEED_PRIOR_SD) for i in range(count)]
    return [*nodes, *more]


def node_speed(log_ratio: Array, residual_sd: float) -> tuple[float, float]:
    """Speed and its log sd, from log(expected / actual seconds) of a node's runs, latest last."""
    latest = log_ratio[-SPEED_RUNS:]
    if len(latest) == 0:
        return 1.0, SPEED_PRIOR_SD
    clipped = np.clip(latest, np.median(latest) - 2 * residual_sd, np.median(latest) + 2 * residual_sd)
    variance = residual_sd**2 / len(latest) + 1e-6
    # A wide prior, for a node may have been slowed: the record overrules it after a few runs.
    trust = 9 * SPEED_PRIOR_SD**2 / (9 * SPEED_PRIOR_SD**2 + variance)
    return float(np.exp(trust * np.mean(clipped))), float(np.sqrt(trust * variance))


def jobs_one_by_one(nodes: int) -> int:
    """How many of the last jobs are handed out one by one; those before them may stand together, one a setting."""
    return nodes * max(1, min(TAIL_JOBS_A_NODE, TAIL_JOBS // max(nodes, 1)))


def rest_of_job_s(expected_s: float, age_s: float) -> float:
    """What is left of a job in hand: with heavy tails, one that is overdue takes about half its age again."""
    return max(expected_s - age_s, 0.3 * expected_s, 0.5 * age_s)


def _job_costs(jobs: OpenJobs, costs: CostModel, rng: np.random.Generator, draws: int) -> Array:
    """(draws, j) seconds at speed 1: runs of one job share their setting's draw, each has a residual of its own."""
    settings = len(costs.log_s)
    own = costs.log_s + costs.sd * rng.standard_normal((draws, settings))
    own += costs.common_sd * rng.standard_normal((draws, 1))
    factor = np.exp(costs.residuals)
    mean, sd = float(np.mean(factor)), float(np.std(factor))
    most = int(np.max(jobs.runs, initial=0))
    total = np.zeros((draws, len(jobs.setting)))
    if most <= 8:
        for k in range(most):
            total += rng.choice(factor, total.shape) * (jobs.runs > k)
    else:  # many runs: their sum is nearly normal
        spread = sd * np.sqrt(jobs.runs)
        total = np.maximum(jobs.runs * mean + spread * rng.standard_normal(total.shape), 0.1 * mean * jobs.runs)
    seconds: Array = np.exp(own)[:, jobs.setting] * total + jobs.beside_s
    return seconds


def _speeds(nodes: Sequence[Node], rng: np.random.Generator, draws: int) -> Array:
    log_speed = np.log([node.speed for node in nodes])
    sd = np.array([node.speed_sd for node in nodes])
    drawn: Array = np.exp(log_speed + sd * rng.standard_normal((draws, len(nodes))))
    return drawn


def _makespan(cost_s: Array, speed: Array, free_s: Array) -> Array:
    """(draws,) when the last job is done: all but the last few jobs as a fluid, these one by one."""
    draws, n = speed.shape
    first = max(0, cost_s.shape[1] - jobs_one_by_one(n))
    fluid_s = np.sum(cost_s[:, :first], axis=1) / np.sum(speed, axis=1)
    free = free_s + fluid_s[:, None]
    rows = np.arange(draws)
    for job in range(first, cost_s.shape[1]):
        node = np.argmin(free, axis=1)
        free[rows, node] += cost_s[:, job] / speed[rows, node]
    done: Array = np.max(free, axis=1)
    return done


def _misfortune(nodes: int, ratio: Array, rng: np.random.Generator) -> Array:
    """(draws,) by how much nodes lost or slowed on the way lengthen it; they go at a moment evenly spread over it."""
    lost = rng.binomial(nodes, np.minimum(LOST_SHARE * ratio, 0.5))
    slowed = rng.binomial(nodes, np.minimum(SLOWED_SHARE * ratio, 0.5))
    gone = (lost + slowed * (1 - rng.uniform(*SLOWED_TO, len(ratio)))) / nodes
    after = rng.random(len(ratio))
    longer: Array = after + (1 - after) / np.maximum(1 - gone, 0.2)
    return longer
