"""The ten methods, the paper's form and a stacked ensemble, on the same splits of the samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from analysis.arrays import Array, Indices
from analysis.counters import methods, mummi
from analysis.counters.errors import TooFewSamplesError
from analysis.counters.features import Features
from analysis.counters.samples import Samples

TEST_SHARE = 0.2
MEAN, MUMMI, STACKED = "training_mean", "mummi", "stacked"
SHUFFLES = 3


@dataclass(frozen=True, kw_only=True)
class Division:
    """Which samples are learned from, and which are predicted."""

    train: tuple[int, ...]
    test: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """What one method predicted of the samples held out in one split."""

    method: str
    test: tuple[int, ...]
    predicted: Array
    measured: Array
    importance: Array
    """A feature each: how much the mean absolute log error grows when it is shuffled, at least 0; sums to 1 or 0."""
    weights: Mapping[str, float]
    """Of the stacked ensemble; empty for the others."""

    @property
    def error_rates(self) -> Array:
        """(prediction - measured) / measured x 100 %, of each sample."""
        found: Array = (self.predicted / self.measured - 1) * 100
        return found


def divisions(groups: Indices, splits: int, rng: np.random.Generator) -> list[Division]:
    """Random splits, 80 to 20 of the groups; with a group for each sample, of the samples."""
    different = np.unique(groups)
    held = max(1, round(TEST_SHARE * len(different)))
    if len(different) < 5:
        raise TooFewSamplesError(f"{len(different)} configurations cannot be split 80 to 20: at least 5 are needed")
    found = []
    for _ in range(splits):
        test = np.isin(groups, rng.permutation(different)[:held])
        train_places, test_places = np.flatnonzero(~test), np.flatnonzero(test)
        found.append(Division(train=tuple(train_places.tolist()), test=tuple(test_places.tolist())))
    return found


def outcomes(
    samples: Samples, target: str, features: Features, division: Division, groups: Indices, *, form: mummi.Form,
    seed: int,
) -> Iterator[Outcome]:  # fmt: skip
    """One split, method after method: the training mean, the paper's form, the ten, and their stack."""
    train, test = np.array(division.train), np.array(division.test)
    y = samples.target(target)
    if np.ptp(y[train]) == 0:
        raise TooFewSamplesError(f"{target} does not vary between the samples to learn from")
    told = _Told(division.test, y[test], len(features.names))
    yield told.of(MEAN, np.full(len(test), y[train].mean()))
    paper = mummi.fit(samples.only(train), target, form=form)
    yield told.of(MUMMI, paper.predict(samples.only(test)))
    x, inner = features.matrix, groups[train]
    learned = {}
    for name in methods.TEN:
        learned[name] = methods.learn(name, x[train], y[train], inner, seed=seed)
        shuffled = importance(learned[name], x[test], y[test], np.random.default_rng(seed))
        yield told.of(name, learned[name].predict(x[test]), shuffled)
    weights = stack_weights(x[train], y[train], inner, seed=seed)
    stack = Stack(learned, weights)
    shuffled = importance(stack, x[test], y[test], np.random.default_rng(seed))
    yield told.of(STACKED, stack.predict(x[test]), shuffled, weights)


METHODS = (MEAN, MUMMI, *methods.TEN, STACKED)
"""In the order of `outcomes`."""


class Stack:
    """The weighted geometric mean of what the ten predict: positive, and no further out than they are."""

    def __init__(self, learned: Mapping[str, methods.Learned], weights: Mapping[str, float]) -> None:
        self._parts = [(learned[name], weight) for name, weight in weights.items() if weight > 0]

    def logs(self, x: Array) -> Array:
        found: Array = np.sum([weight * one.logs(x) for one, weight in self._parts], axis=0)
        return found

    def predict(self, x: Array) -> Array:
        """Predicted quantities, above 0."""
        found: Array = np.exp(self.logs(x))
        return found


def stack_weights(x: Array, y: Array, groups: Indices, *, seed: int) -> dict[str, float]:
    """Weights that sum to 1: non-negative least squares of the logs on what each method predicted out of fold.

    Drawn towards equal weights of the better half, by as much as five samples would: few samples say little of ten
    weights.
    """
    logs = np.log(y)
    told = np.empty((len(y), len(methods.TEN)))
    for train, held in methods.folds(groups, seed):
        for column, name in enumerate(methods.TEN):
            told[held, column] = methods.learn(name, x[train], y[train], groups[train], seed=seed).logs(x[held])
    errors = np.mean(np.abs(told - logs[:, np.newaxis]), axis=0)
    better = errors <= np.median(errors)
    spread = float(np.sqrt(np.mean(errors[better] ** 2)))
    pull, equal = np.eye(len(better)) * spread, better / better.sum() * spread
    one = np.ones(len(better)) * 1e3 * spread
    rows = np.vstack([told - logs[:, np.newaxis], pull * np.sqrt(5), one])
    wanted = np.concatenate([np.zeros(len(logs)), equal * np.sqrt(5), [1e3 * spread]])
    weights = nnls(rows, wanted)[0]
    weights /= weights.sum()
    return dict(zip(methods.TEN, weights.tolist(), strict=True))


def importance(learned: methods.Learned | Stack, x: Array, y: Array, rng: np.random.Generator) -> Array:
    """How much worse the held-out samples are predicted when one feature is shuffled among them, as shares."""
    logs, (n, count) = np.log(y), x.shape
    before = float(np.mean(np.abs(learned.logs(x) - logs)))
    tiled = np.tile(x, (count * SHUFFLES, 1)).reshape(count, SHUFFLES, n, count)
    for feature in range(count):
        for again in range(SHUFFLES):
            tiled[feature, again, :, feature] = rng.permutation(x[:, feature])
    after = learned.logs(tiled.reshape(-1, count)).reshape(count, SHUFFLES * n)
    grown = np.maximum(np.mean(np.abs(after - np.tile(logs, SHUFFLES)), axis=1) - before, 0)
    shares: Array = grown / grown.sum() if grown.sum() > 0 else grown
    return shares


class _Told:
    def __init__(self, test: Sequence[int], measured: Array, features: int) -> None:
        self._test, self._measured, self._none = tuple(test), measured, np.zeros(features)

    def of(
        self, method: str, predicted: Array, shares: Array | None = None, weights: Mapping[str, float] | None = None
    ) -> Outcome:
        return Outcome(
            method=method,
            test=self._test,
            predicted=predicted,
            measured=self._measured,
            importance=self._none if shares is None else shares,
            weights=weights or {},
        )
