"""Prediction in two stages: file-system features from what is available, then the throughput from all selected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from analysis.arrays import Array, Flags, Indices
from analysis.log_prediction.published import regressors
from analysis.log_prediction.published.records import Records, Source, most_recent
from analysis.log_prediction.published.selection import best_of, select_features

VALIDATION = 0.25  # of the training jobs, the last ones
FEWEST = 40  # jobs to train on
NO_STAGE = "-"  # instead of a first stage, where no file-system feature is selected

Select = Literal["validation", "test"]
Pair = tuple[str, str]
Report = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """What the procedure settled on."""

    features: tuple[str, ...]
    first_stage: Mapping[str, tuple[str, ...]]  # from what each selected file-system feature is predicted
    pair: Pair  # regressors of the first and the second stage
    coefficients: Mapping[Pair, float]  # R^2 of all combinations, on the part that was chosen by


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Predictions, (n,), NaN where there are none: of the validation part by models that have not seen it."""

    predicted: Array
    chosen: Chosen | None  # None where there were too few jobs to train on


@dataclass(frozen=True, kw_only=True)
class _Stages:
    """The features that are selected, and the fitted regressors."""

    selected: tuple[int, ...]
    first: Mapping[int, tuple[int, ...]]
    models: Mapping[tuple[str, int], Any]  # of the first stage, by regressor and feature
    second: Mapping[str, Any]

    def pairs(self) -> list[Pair]:
        firsts = sorted({name for name, _ in self.models}) or [NO_STAGE]
        return [(first, second) for first in firsts for second in self.second]


def predict(
    records: Records,
    training: Flags,
    *,
    select: Select = "validation",
    seed: int = 0,
    processes: int = 1,
    report: Report = lambda _: None,
) -> Outcome:
    """The throughput of all jobs that follow the training jobs, (n,); models are frozen, previous runs move on.

    `select="test"` chooses the combination on the jobs to be predicted, as the paper does: for reproduction only.
    A program that has not run before is predicted from scheduler features alone.
    """
    recent = most_recent(records)
    predicted = np.full(len(records), np.nan)
    train_places, test_places = np.flatnonzero(training), np.flatnonzero(~training)
    if len(train_places) < FEWEST:
        return Outcome(predicted=predicted, chosen=None)
    make = _Maker(records=records, recent=recent, seed=seed, processes=processes)
    edge = len(train_places) - int(VALIDATION * len(train_places))
    fitted, held = train_places[:edge], train_places[edge:]
    report(f"paper: validation on {len(held)} jobs")
    early = make.stages(fitted, known_program=True)
    of_held = {pair: make.of(early, pair, held) for pair in early.pairs()}
    report("paper: the whole training period")
    final = make.stages(train_places, known_program=True)
    of_test = {pair: make.of(final, pair, test_places) for pair in final.pairs()}
    judged = (of_held, held) if select == "validation" or not len(test_places) else (of_test, test_places)
    coefficients = {pair: _r2(records.target[judged[1]], values) for pair, values in judged[0].items()}
    pair = best_of(coefficients)
    predicted[held] = of_held.get(pair, next(iter(of_held.values())))
    predicted[test_places] = of_test.get(pair, next(iter(of_test.values())))
    unknown = test_places[recent[test_places] < 0]
    if len(unknown):
        alone = make.stages(train_places, known_program=False)
        predicted[unknown] = make.of(alone, (NO_STAGE, pair[1]), unknown)
    least = float(np.nanmin(records.target[training]))
    return Outcome(
        predicted=np.maximum(predicted, least),  # a straight line knows nothing of zero
        chosen=_told(records, final, pair, coefficients),
    )


@dataclass(frozen=True, kw_only=True)
class _Maker:
    """SelectFeatures, DataPreparation and Prediction, over the same records."""

    records: Records
    recent: Indices
    seed: int
    processes: int

    def stages(self, places: Indices, *, known_program: bool) -> _Stages:
        """Select and fit, on these jobs' own values."""
        records, values = self.records, self.records.values[places]
        available = (Source.SCHEDULER, Source.APPLICATION) if known_program else (Source.SCHEDULER,)
        candidates = range(len(records.names)) if known_program else records.of(*available)
        selected = select_features(values, records.target[places], candidates)
        of_file_system = [place for place in selected if place in records.of(Source.FILE_SYSTEM)]
        first = {place: select_features(values, values[:, place], records.of(*available)) for place in of_file_system}
        return _Stages(
            selected=selected,
            first=first,
            models={
                (name, place): self._fitted(name, values[:, list(first[place])], values[:, place])
                for place in of_file_system
                for name in regressors.available()
            },
            second={
                name: self._fitted(name, values[:, list(selected)], records.target[places])
                for name in regressors.available()
            },
        )

    def of(self, stages: _Stages, pair: Pair, places: Indices) -> Array:
        """What a combination predicts of these jobs, from what is known before they start."""
        prepared = self._prepared(places)
        for feature, sources in stages.first.items():
            prepared[:, feature] = stages.models[pair[0], feature].predict(prepared[:, list(sources)])
        found: Array = stages.second[pair[1]].predict(prepared[:, list(stages.selected)])
        return found

    def _prepared(self, places: Indices) -> Array:
        """DataPreparation: own scheduler features, application features of the most recent run."""
        prepared = np.full((len(places), len(self.records.names)), np.nan)
        for source, rows in ((Source.SCHEDULER, places), (Source.APPLICATION, self.recent[places])):
            columns = list(self.records.of(source))
            prepared[:, columns] = self.records.values[rows][:, columns]
            if source is Source.APPLICATION:
                prepared[:, columns] = np.where((rows < 0)[:, None], np.nan, prepared[:, columns])
        return prepared

    def _fitted(self, name: str, x: Array, y: Array) -> Any:
        told = np.isfinite(y)
        model = _Imputed(regressors.make(name, seed=self.seed, processes=self.processes))
        return model.fit(x[told], y[told])


class _Imputed:
    """A regressor that is given the training mean where a feature is not told; the mean of y without any feature."""

    def __init__(self, regressor: Any) -> None:
        self._regressor = regressor

    def fit(self, x: Array, y: Array) -> _Imputed:
        self._means = np.array([np.mean(one[np.isfinite(one)]) if np.any(np.isfinite(one)) else 0.0 for one in x.T])
        self._mean = float(np.mean(y))
        if x.shape[1]:
            self._regressor.fit(self._filled(x), y)
        return self

    def predict(self, x: Array) -> Array:
        if not x.shape[1] or not len(x):
            return np.full(len(x), self._mean)
        found: Array = self._regressor.predict(self._filled(x))
        return found

    def _filled(self, x: Array) -> Array:
        filled: Array = np.where(np.isfinite(x), x, self._means)
        return filled


def _told(records: Records, stages: _Stages, pair: Pair, coefficients: Mapping[Pair, float]) -> Chosen:
    return Chosen(
        features=tuple(records.names[place] for place in stages.selected),
        first_stage={
            records.names[place]: tuple(records.names[one] for one in sources)
            for place, sources in stages.first.items()
        },
        pair=pair,
        coefficients=dict(coefficients),
    )


def _r2(measured: Array, predicted: Array) -> float:
    told = np.isfinite(measured)
    total = float(np.sum((measured[told] - np.mean(measured[told])) ** 2)) if np.any(told) else 0.0
    missed = float(np.sum((measured[told] - predicted[told]) ** 2))
    return 1.0 - missed / total if total > 0 else float("nan")
