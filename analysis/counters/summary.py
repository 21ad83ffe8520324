"""What splits told, together: error rates and importance of each method, and how far the methods agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from analysis.arrays import Array
from analysis.counters.comparison import METHODS, MUMMI, STACKED, Outcome


@dataclass(frozen=True, kw_only=True)
class Importance:
    """A feature's share of what is lost by shuffling; over the splits."""

    feature: str
    share: float
    sd: float
    """Between splits: a stable importance has a small one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Method:
    """One method over all splits."""

    method: str
    mean_error_percent: float
    """Mean absolute error rate, averaged over the splits."""
    se_percent: float
    """Its standard error between splits; nan for one split."""
    median_error_percent: float
    """Of the absolute error rates of all held-out samples."""
    lowest_percent: float
    highest_percent: float
    """The extreme error rates, signed: (prediction - measured) / measured x 100 %."""
    error_rates: Array
    """All of them, signed, split after split."""
    predicted: Array
    measured: Array
    samples: tuple[int, ...]
    """Which sample each is."""
    importance: tuple[Importance, ...]
    """Largest first; empty for the training mean and the paper's form."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Summary:
    """All methods, best first."""

    splits: int
    methods: tuple[Method, ...]
    agreement: float
    """Kendall's W of the ten rankings of the features: 1 when all rank alike, about 1 / 10 by chance."""
    correlations: tuple[tuple[str, str, float], ...]
    """Spearman's correlation of the importances of each two methods."""
    weights: dict[str, float]
    """Of the stacked ensemble, mean over the splits."""

    @property
    def best(self) -> Method:
        """That with the smallest mean error rate."""
        return self.methods[0]


def summarise(outcomes: Iterable[Outcome], features: Sequence[str]) -> Summary:
    """Put the outcomes of all splits together."""
    by_method: dict[str, list[Outcome]] = {name: [] for name in METHODS}
    for one in outcomes:
        by_method[one.method].append(one)
    methods = [_method(name, found, features) for name, found in by_method.items() if found]
    ten = {one.method: _shares(one, features) for one in methods if one.importance and one.method != STACKED}
    weights: dict[str, list[float]] = {}
    for stack in by_method[STACKED]:
        for name, weight in stack.weights.items():
            weights.setdefault(name, []).append(weight)
    return Summary(
        splits=max(map(len, by_method.values())),
        methods=tuple(sorted(methods, key=lambda one: one.mean_error_percent)),
        agreement=kendall_w(np.array(list(ten.values()))) if ten else float("nan"),
        correlations=tuple(_correlations(ten)),
        weights={name: float(np.mean(some)) for name, some in weights.items()},
    )


def kendall_w(scores: Array) -> float:
    """Kendall's coefficient of concordance of the rows of `scores`, with its correction for ties."""
    judges, items = scores.shape
    ranks = stats.rankdata(scores, axis=1)
    spread = float(np.sum((ranks.sum(axis=0) - judges * (items + 1) / 2) ** 2))
    counts = (np.unique(row, return_counts=True)[1] for row in ranks)
    ties = sum(float(np.sum(count**3 - count)) for count in counts)
    most = judges**2 * (items**3 - items) - judges * ties
    return 12 * spread / most if most > 0 else float("nan")


def _method(name: str, outcomes: Sequence[Outcome], features: Sequence[str]) -> Method:
    rates = [one.error_rates for one in outcomes]
    means = np.array([np.mean(np.abs(some)) for some in rates])
    whole = np.concatenate(rates)
    told = np.array([one.importance for one in outcomes])
    return Method(
        method=name,
        mean_error_percent=float(means.mean()),
        se_percent=float(means.std(ddof=1) / np.sqrt(len(means))) if len(means) > 1 else float("nan"),
        median_error_percent=float(np.median(np.abs(whole))),
        lowest_percent=float(whole.min()),
        highest_percent=float(whole.max()),
        error_rates=whole,
        predicted=np.concatenate([one.predicted for one in outcomes]),
        measured=np.concatenate([one.measured for one in outcomes]),
        samples=tuple(place for one in outcomes for place in one.test),
        importance=() if name not in _LEARNING else _importance(told, features),
    )


_LEARNING = frozenset(METHODS[METHODS.index(MUMMI) + 1 :])


def _importance(told: Array, features: Sequence[str]) -> tuple[Importance, ...]:
    shares = told.mean(axis=0)
    spread = told.std(axis=0, ddof=1) if len(told) > 1 else np.full(len(features), np.nan)
    order = np.argsort(-shares, kind="stable")
    return tuple(Importance(feature=features[k], share=float(shares[k]), sd=float(spread[k])) for k in order)


def _shares(method: Method, features: Sequence[str]) -> Array:
    by_name = {one.feature: one.share for one in method.importance}
    return np.array([by_name[name] for name in features])


def _correlations(ten: dict[str, Array]) -> Iterable[tuple[str, str, float]]:
    names = list(ten)
    for place, a in enumerate(names):
        for b in names[place + 1 :]:
            if np.ptp(ten[a]) > 0 and np.ptp(ten[b]) > 0:
                yield a, b, float(stats.spearmanr(ten[a], ten[b]).statistic)
