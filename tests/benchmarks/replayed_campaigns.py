"""Campaigns with heavy-tailed costs, a node lost and one slowed half-way; and what is said of the time left."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array, Indices
from analysis.service_rate import cost
from analysis.service_rate.time_left import Node, OpenJobs, TimeLeft, node_speed, rest_of_job_s, time_left

RUNS_A_JOB = 3
LEAST_NODES, MOST_NODES = 6, 16
SLOWED = (0.4, 0.7)


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job as it went: on which node, from when to when, and its runs' seconds."""

    number: int
    node: int
    begun_s: float
    ended_s: float
    run_s: Array


@dataclass(frozen=True, kw_only=True)
class Campaign:
    settings: list[dict[str, cost.Level]]
    prior_s: Array
    setting: Indices
    jobs: list[Job]
    nodes: int
    lost: int
    lost_s: float

    @property
    def ended_s(self) -> float:
        return max(job.ended_s for job in self.jobs)


def replay(rng: np.random.Generator) -> Campaign:
    """Settings of threads, file sizes and a mode; log costs with shares of their own and Student's t residuals."""
    settings: list[dict[str, cost.Level]] = [
        {"threads": t, "file_size_kb": size, "engine": word}
        for t in (1, 4, 16, 64)
        for size in (4, 64, 1024, 16384, 65536)
        for word in ("a", "b", "c")
    ]
    log_size = np.log([float(s["threads"]) * float(s["file_size_kb"]) for s in settings])
    prior_s = np.exp(1.0 + 0.1 * log_size)
    slope, words = rng.uniform(0.1, 0.45), dict(zip("abc", rng.normal(0, 0.4, 3), strict=True))
    true = 0.5 + slope * log_size + np.array([words[str(s["engine"])] for s in settings])
    true += rng.normal(0, 0.25, len(settings))
    setting = np.tile(np.arange(len(settings)), int(rng.integers(6, 14)))
    rng.shuffle(setting)
    tail = rng.standard_t(3, (len(setting), RUNS_A_JOB)) * 0.25
    run_s = np.exp(true[setting][:, None] + np.clip(tail, -2, 4))
    nodes = int(rng.integers(LEAST_NODES, MOST_NODES + 1))
    speed = np.exp(rng.normal(0, 0.05, nodes))
    lost, slowed = rng.choice(nodes, 2, replace=False)
    half_s = float(np.sum(run_s)) / nodes / 2  # half-way, but for what happens there
    slow_to = rng.uniform(*SLOWED)
    jobs = _work(run_s, speed, int(lost), int(slowed), half_s=half_s, slow_to=slow_to)
    return Campaign(
        settings=settings, prior_s=prior_s, setting=setting, jobs=jobs, nodes=nodes, lost=int(lost), lost_s=half_s
    )


def _work(run_s: Array, speed: Array, lost: int, slowed: int, *, half_s: float, slow_to: float) -> list[Job]:
    """Whoever is free first takes the next job; what the lost node had in hand is done again by another."""
    waiting = list(range(len(run_s)))[::-1]
    free = [(0.0, node) for node in range(len(speed))]
    jobs = []
    while waiting:
        now_s, node = heapq.heappop(free)
        if node == lost and now_s >= half_s:
            continue
        number = waiting.pop()
        factor = speed[node] * (slow_to if node == slowed and now_s >= half_s else 1.0)
        end_s = now_s + float(np.sum(run_s[number])) / factor
        if node == lost and end_s > half_s:
            waiting.append(number)
            continue
        jobs.append(Job(number=number, node=node, begun_s=now_s, ended_s=end_s, run_s=run_s[number] / factor))
        heapq.heappush(free, (end_s, node))
    return jobs


def predict(campaign: Campaign, now_s: float, rng: np.random.Generator) -> TimeLeft:
    """What can be said at a moment, from finished jobs and from which node is known to be lost."""
    done = sorted((job for job in campaign.jobs if job.ended_s <= now_s), key=lambda job: job.ended_s)
    in_hand = {job.node: job for job in campaign.jobs if job.begun_s <= now_s < job.ended_s}
    ran = np.repeat(campaign.setting[[job.number for job in done]], RUNS_A_JOB).astype(np.int64)
    run_s = np.concatenate([job.run_s for job in done]) if done else np.empty(0)
    costs = cost.fit(campaign.settings, ran, run_s, campaign.prior_s)
    nodes = []
    for node in range(campaign.nodes):
        mine = [(job.number, job.run_s) for job in done if job.node == node]
        expected = np.repeat(costs.log_s[campaign.setting[[number for number, _ in mine]]], RUNS_A_JOB)
        seconds = np.concatenate([s for _, s in mine]) if mine else np.empty(0)
        speed, sd = node_speed(expected - np.log(seconds), float(np.std(costs.residuals)))
        free_in_s = 0.0
        if node in in_hand:
            job = in_hand[node]
            typical = RUNS_A_JOB * float(costs.mean_s[campaign.setting[job.number]]) / speed
            free_in_s = rest_of_job_s(typical, now_s - job.begun_s)
        working = not (node == campaign.lost and now_s >= campaign.lost_s)
        nodes.append(Node(name=f"m{node}", speed=speed, speed_sd=sd, free_in_s=free_in_s, working=working))
    begun = {job.number for job in campaign.jobs if job.begun_s <= now_s}
    waiting = np.array([n for n in range(len(campaign.setting)) if n not in begun], dtype=np.int64)
    jobs = OpenJobs(setting=campaign.setting[waiting], runs=np.full(len(waiting), RUNS_A_JOB))
    return time_left(jobs, costs, nodes, rng, elapsed_s=now_s)
