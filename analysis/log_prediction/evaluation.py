"""Train on the first part of the time, predict the rest: baselines, published procedure, our model, side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array, Flags
from analysis.errors import BadSampleError
from analysis.log_prediction import intervals, trees
from analysis.log_prediction.features import Features, features
from analysis.log_prediction.history import Forecasts, forecasts, key_means
from analysis.log_prediction.jobs import Jobs, picked
from analysis.log_prediction.scores import Score, score

ALL = "all"
FEWEST_JOBS = 40

Report = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """Of every job, (n,), as logarithms; NaN where a model has none."""

    middle: Array
    low: Array
    high: Array


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Predictions by model, and which jobs were tested."""

    jobs: Jobs
    tested: Flags  # (n,)
    predictions: Mapping[str, Prediction]
    table: Features
    model: trees.Trees | None

    def scores(self) -> dict[str, dict[str, dict[str, Score]]]:
        """By direction, file system (and `all`), model. Each is about the jobs that every model predicted.

        A model that predicts nothing of a direction, for it had too few jobs to learn from, is left out of it.
        """
        found: dict[str, dict[str, dict[str, Score]]] = {}
        for direction in sorted(set(self.jobs.directions)):
            members = self.tested & self.jobs.of_direction(direction)
            told = {name: np.isfinite(one.middle) for name, one in self.predictions.items()}
            told = {name: finite for name, finite in told.items() if np.any(finite & members)}
            members &= np.all([*told.values(), members], axis=0)
            places = {ALL: members}
            for name in sorted(set(self.jobs.file_systems)):
                places[name] = members & np.array([one == name for one in self.jobs.file_systems])
            found[direction] = {name: self._of(chosen, list(told)) for name, chosen in places.items() if np.any(chosen)}
        return {direction: by_file_system for direction, by_file_system in found.items() if by_file_system}

    def _of(self, chosen: Flags, models: Sequence[str]) -> dict[str, Score]:
        measured, keys = np.log(self.jobs.throughput[chosen]), picked(self.jobs.keys, np.flatnonzero(chosen))
        return {
            name: score(
                measured,
                one.middle[chosen],
                keys,
                (one.low[chosen] <= measured) & (measured <= one.high[chosen]),
            )
            for name, one in self.predictions.items()
            if name in models
        }


def split(jobs: Jobs, train_share: float) -> Flags:
    """The training jobs, (n,): the first by their start. Raises `BadSampleError`."""
    if not 0 < train_share < 1:
        raise BadSampleError(f"the share that is trained on lies between 0 and 1, not {train_share:g}")
    known = np.isfinite(jobs.throughput)
    if np.count_nonzero(known) < FEWEST_JOBS:
        raise BadSampleError(f"{np.count_nonzero(known)} jobs with a throughput are too few: {FEWEST_JOBS} are needed")
    first = int(train_share * np.count_nonzero(known))
    if not 0 < first < np.count_nonzero(known):
        raise BadSampleError(
            f"of {np.count_nonzero(known)} jobs, {first} would be trained on, and the others predicted"
        )
    training: Flags = np.cumsum(known) <= first
    return training & known


def evaluate(
    jobs: Jobs,
    *,
    train_share: float,
    others: Mapping[str, Callable[[Jobs, Flags], Array]],
    forest: int | None = None,
    seed: int = 0,
    processes: int = 1,
    report: Report = lambda _: None,
) -> Evaluation:
    """Every model on the same jobs; `others` names further models, from jobs and training flags to logarithms, (n,).

    `forest` is how many trees our model has: as many as it is tuned for where it is None, and no such model where 0.
    Models are frozen after training; histories move on. Raises `BadSampleError`.
    """
    training = split(jobs, train_share)
    report(f"{len(jobs)} jobs, of which {np.count_nonzero(training)} to train on")
    past = forecasts(jobs)
    middles = {"history": past.weighted, "key_mean": key_means(jobs, training), "last_run": past.last}
    for name, model in others.items():
        middles[name] = model(jobs, training)
    table, trained = features(jobs, training), None
    if forest != 0:
        trained = trees.train(jobs, table, training, size=forest, seed=seed, processes=processes, report=report)
        middles["best"] = trained.log_predicted
    report("intervals")
    return Evaluation(
        jobs=jobs,
        tested=~training & np.isfinite(jobs.throughput),
        predictions={name: _with_intervals(jobs, middle, past) for name, middle in middles.items()},
        table=table,
        model=None if trained is None else trained.model,
    )


def _with_intervals(jobs: Jobs, middle: Array, past: Forecasts) -> Prediction:
    low, high = intervals.intervals(jobs, middle, past.spread)
    return Prediction(middle=middle, low=low, high=high)
