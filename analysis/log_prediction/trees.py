"""Our model: extra trees on what the weighted history misses by, trusted as far as they proved right.

How far is measured inside the training period: trees of its beginning predict what follows, four times over.
These predictions, made without the jobs they are about, are also what intervals start from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from analysis.arrays import Array, Flags, Indices
from analysis.log_prediction.features import Features
from analysis.log_prediction.jobs import Jobs

FOLDS = 4
FIRST = 0.35  # of the training jobs, before the first fold
TRUSTS = np.linspace(0.0, 1.0, 21)
ABSENT = -1e3  # stands for what is not known; trees split it off
TREES = 200
FEWEST = 20

Report = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Trees:
    """The model after training."""

    regressor: Any  # None where there are too few jobs to learn from
    trust: dict[str, float]  # by direction: 0 is the weighted history alone, 1 the trees' whole correction

    def correction(self, table: Features, directions: tuple[str, ...]) -> Array:
        """What is added to the weighted history, (n,)."""
        if self.regressor is None:
            return np.zeros(len(directions))
        trust = np.array([self.trust.get(direction, 0.0) for direction in directions])
        found: Array = trust * self.raw(table.values)
        return found

    def raw(self, values: Array) -> Array:
        """The trees' whole correction of rows of features, (n, features)."""
        found: Array = self.regressor.predict(_filled(values))
        return found


@dataclass(frozen=True, kw_only=True)
class Trained:
    """The model, and what it predicts of every job: of training jobs as in the folds, NaN before the first."""

    model: Trees
    log_predicted: Array


def train(
    jobs: Jobs,
    table: Features,
    training: Flags,
    *,
    size: int | None = None,
    seed: int,
    processes: int,
    report: Report,
) -> Trained:
    """Learn from the training jobs, (n,), with `size` trees; nothing of the others is looked at."""
    size = size or TREES
    make = _Maker(size=size, seed=seed, processes=processes)
    # How far trees are to be trusted half as many tell as well; the folds take most of the time.
    make_fold = replace(make, size=max(size // 2, 1))
    missed = np.log(jobs.throughput) - table.weighted
    usable = np.flatnonzero(training & np.isfinite(missed))
    honest = np.full(len(jobs), np.nan)
    for number, (before, after) in enumerate(_folds(usable), start=1):
        report(f"trees: validation {number} of {FOLDS}, on {len(after)} jobs")
        honest[after] = make_fold.fitted(table, missed, before).predict(_filled(table.values[after]))
    trust = {name: _trust(jobs, table, honest, name) for name in sorted(set(jobs.directions))}
    report("trees: the whole training period")
    regressor = make.fitted(table, missed, usable) if len(usable) >= FEWEST else None
    model = Trees(regressor=regressor, trust=trust)
    trusted = np.array([trust[direction] for direction in jobs.directions])
    return Trained(
        model=model,
        log_predicted=table.weighted + np.where(training, trusted * honest, model.correction(table, jobs.directions)),
    )


def _folds(places: Indices) -> Iterator[tuple[Indices, Indices]]:
    """What comes before, and what follows, of training jobs in the order of time."""
    edges = np.linspace(FIRST * len(places), len(places), FOLDS + 1).astype(int)
    for first, last in pairwise(edges):
        if first >= FEWEST and last > first:
            yield places[:first], places[first:last]


@dataclass(frozen=True, kw_only=True)
class _Maker:
    """A forest of so many trees."""

    size: int
    seed: int
    processes: int

    def fitted(self, table: Features, missed: Array, places: Indices) -> Any:
        """Of what the history missed by, from these jobs."""
        from sklearn.ensemble import ExtraTreesRegressor

        forest = ExtraTreesRegressor(
            self.size, min_samples_leaf=5, max_features=0.33, random_state=self.seed, n_jobs=self.processes
        )
        return forest.fit(_filled(table.values[places]), missed[places])


def _trust(jobs: Jobs, table: Features, honest: Array, direction: str) -> float:
    """The share of the trees' correction that would have been best, of throughput and of its logarithm alike.

    None of it unless its gain over the history is larger than the gain's own standard error.
    """
    known = np.isfinite(honest) & jobs.of_direction(direction)
    if np.count_nonzero(known) < FEWEST:
        return 0.0
    measured, history, correction = np.log(jobs.throughput[known]), table.weighted[known], honest[known]
    losses = np.array([_losses(measured, history + trust * correction) for trust in TRUSTS])  # (trusts, 2, jobs)
    scale = np.maximum(np.mean(losses[0], axis=1), 1e-12)
    of_each = np.sum(losses / scale[:, None], axis=1)
    best = int(np.argmin(np.mean(of_each, axis=1)))
    gain = of_each[0] - of_each[best]
    sure = np.mean(gain) > np.std(gain) / np.sqrt(len(gain))
    return float(TRUSTS[best]) if sure else 0.0


def _losses(measured: Array, predicted: Array) -> tuple[Array, Array]:
    return (measured - predicted) ** 2, (np.exp(measured) - np.exp(predicted)) ** 2


def _filled(values: Array) -> Array:
    filled: Array = np.where(np.isfinite(values), values, ABSENT)
    return filled
