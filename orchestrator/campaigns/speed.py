"""What is known of a campaign's speed: what its settings cost and how fast its nodes are, learned from runs.

It holds a bounded number of runs for each setting and node, so that a controller stays as small as it is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

import numpy as np

from analysis.arrays import Array, Indices
from analysis.service_rate import Estimate, PhaseChange, TimeEstimator, cost
from analysis.service_rate.time_left import node_speed
from orchestrator import words
from orchestrator.campaigns.recent_runs import RecentRuns
from orchestrator.contracts.campaigns import Submission
from orchestrator.contracts.rates import Completion, FoundRate
from orchestrator.design import duration

RUNS_A_NODE = 512
GAPS = 256
SHORTEST_S = 1e-4
"""Nothing costs nothing: of programs nobody here knows how long they run."""
UNKNOWN_S = 10.0


@dataclass(frozen=True, slots=True)
class _Ran:
    """A run on a node: its setting, the time it took the node, and when it ended."""

    setting: int
    service_s: float
    ended_at: float


@dataclass(frozen=True, slots=True)
class _Last:
    sequence: int
    job_id: int
    ended_at: float


class Speed:
    """Of one campaign."""

    def __init__(self, submission: Submission) -> None:
        self.features = features(submission)
        self.kinds = kinds(submission)
        self.prior_s = prior_s(submission)
        self.known_until = 0.0
        """When the latest job was done of which runs were learned."""
        self._runs: dict[str, deque[_Ran]] = {}
        self._node_numbers: dict[str, int] = {}
        self._costs = RecentRuns(len(self.features))
        self._last: dict[UUID, _Last] = {}
        self._gaps_s: deque[float] = deque(maxlen=GAPS)

    def learn(self, completions: Iterable[Completion]) -> None:
        """Take in runs, in the order of each session; those seen before are left out."""
        for run in completions:
            self.known_until = max(self.known_until, run.done_at or 0.0)
            last = self._last.get(run.session)
            if last is None or run.sequence > last.sequence:
                self._add(run, last)

    def _add(self, run: Completion, last: _Last | None) -> None:
        """A run takes its node from the end of the one before it in its job; what lies between jobs is the queue's."""
        ended_at, service_s = run.started_at + run.elapsed_s, run.elapsed_s
        if last is not None and run.sequence == last.sequence + 1:
            if run.job_id == last.job_id:
                service_s = max(ended_at - last.ended_at, run.elapsed_s)
            else:
                self._gaps_s.append(max(run.started_at - last.ended_at, 0.0))
        service_s = max(service_s, SHORTEST_S)
        self._last[run.session] = _Last(run.sequence, run.job_id, ended_at)
        ran = _Ran(run.setting, service_s, ended_at)
        self._runs.setdefault(run.node, deque(maxlen=RUNS_A_NODE)).append(ran)
        number = self._node_numbers.setdefault(run.node, len(self._node_numbers))
        self._costs.add(run.setting, number, service_s)

    @property
    def between_jobs_s(self) -> float:
        """What a node typically loses between two jobs."""
        return float(np.median(self._gaps_s)) if self._gaps_s else 0.0

    def costs(self) -> Costs:
        """Of every setting, from the latest runs of each."""
        ran, nodes, seconds = self._costs.all()
        return Costs(
            model=cost.fit(self.features, ran, seconds, self.prior_s, kinds=self.kinds),
            ran=ran,
            nodes=nodes,
            seconds=seconds,
        )

    def rates(self, costs: Costs) -> list[FoundRate]:
        """Of every node of which enough is known."""
        found = (rate_of(node, *self._of_node(node, costs)) for node in sorted(self._runs))
        return [rate for rate in found if rate is not None]

    def node_speeds(self, costs: Costs) -> dict[str, tuple[float, float]]:
        """Node -> its speed beside the average, and the standard deviation of its logarithm."""
        spread = float(np.std(costs.model.residuals))
        return {
            node: node_speed(np.log(costs.typical_s / self._of_node(node, costs)[0]), spread) for node in self._runs
        }

    def last_seen(self, node: str) -> float | None:
        """When its latest run ended."""
        runs = self._runs.get(node)
        return runs[-1].ended_at if runs else None

    def _of_node(self, node: str, costs: Costs) -> tuple[Array, Array]:
        """Seconds that its runs would have taken in a setting of average cost, and when they ended; latest last."""
        runs = self._runs[node]
        expected = np.exp(costs.log_s_without(self._node_numbers[node]))[[ran.setting for ran in runs]]
        service_s = np.array([ran.service_s for ran in runs])
        return service_s * costs.typical_s / expected, np.array([ran.ended_at for ran in runs])


@dataclass(frozen=True, kw_only=True)
class Costs:
    """The costs of settings, and the runs they come from: (n,) setting, number of the node, and seconds."""

    model: cost.CostModel
    ran: Indices
    nodes: Indices
    seconds: Array

    @property
    def typical_s(self) -> float:
        """Seconds of a run of average cost."""
        return float(np.mean(np.exp(self.model.log_s)))

    @property
    def learned(self) -> bool:
        """Or is this the prior alone?"""
        return len(self.ran) >= cost.FEWEST

    def log_s_without(self, node: int) -> Array:
        """What the settings cost by the word of other nodes: a slow one is not its own measure."""
        others = self.nodes != node
        ran, model = self.ran[others], self.model
        left = np.log(self.seconds[others]) - model.by_factors[ran]
        settings = len(model.log_s)
        runs, sums = np.bincount(ran, minlength=settings), np.bincount(ran, left, minlength=settings)
        own: Array = sums / (runs + max(model.own_counts_from, 1e-6))
        return model.by_factors + own


def rate_of(node: str, service_s: Array, ended_at: Array) -> FoundRate | None:
    """The rate of the latest phase, and how it differs from the one before; None: too little is known."""
    estimator = TimeEstimator()
    began_at: list[float] = []
    for seconds, at in zip(service_s, ended_at, strict=True):
        told = estimator.add(time_s=float(at), service_s=float(seconds))
        began_at += [one.began_s for one in told if isinstance(one, PhaseChange)]
    now = estimator.current()
    if not isinstance(now, Estimate):
        return None
    return FoundRate(
        node=node,
        runs_per_s=now.rate,
        low_per_s=now.low,
        high_per_s=now.high,
        runs=now.n,
        since=began_at[-1] if began_at else float(ended_at[0]),
        change=_change(node, service_s, ended_at, began_at, now.rate) if began_at else None,
    )


def _change(node: str, service_s: Array, ended_at: Array, began_at: list[float], now_per_s: float) -> str:
    """`node m07 fell from 3.1 to 1.9 runs/min at 14:02 UTC`."""
    earlier = (ended_at < began_at[-1]) & (ended_at >= (began_at[-2] if len(began_at) > 1 else 0.0))
    before_per_s = 1 / float(np.mean(service_s[earlier]))
    verb = "fell" if now_per_s < before_per_s else "rose"
    when = datetime.fromtimestamp(began_at[-1], UTC)
    rates = f"from {words.rate(before_per_s)} to {words.rate(now_per_s)} runs/min"
    return f"node {node} {verb} {rates} at {when:%H:%M} UTC"


def features(submission: Submission) -> list[Mapping[str, cost.Level]]:
    """Factor -> level of every setting. A control has the levels of the first setting."""
    design = submission.design
    measured = next((setting.levels for setting in design.settings if setting.control is None), ())
    levels = (measured if setting.control is not None else setting.levels for setting in design.settings)
    return [dict(zip(design.factors, row, strict=False)) for row in levels]


def kinds(submission: Submission) -> list[str]:
    """Of every setting: the name of the control, which is replayed, or that of the engine."""
    return [
        f"control {one.control}" if one.control is not None else submission.engine for one in submission.design.settings
    ]


def prior_s(submission: Submission) -> Array:
    """Seconds of one run of every setting, as `design check` would estimate them."""
    told = duration.each_run_s(submission.design, submission.engine, submission.engine_options, submission.controls)
    return np.array([seconds if seconds > 0 else UNKNOWN_S for seconds in told])
