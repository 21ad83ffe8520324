"""Which counters tell the components of a mixture apart: a small classifier, cross-validated, with a permutation p.

The classifier is regularised linear discriminant analysis on log rates: closed form, no library, no tuning but one
ridge. Its worth is the balanced accuracy out of fold; p is the share of shuffled labels that reach it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats

from analysis.arrays import Array, Indices
from analysis.counters.errors import TooFewSamplesError
from analysis.counters.features import log_rate

FEWEST_IN_COMPONENT = 5
FOLDS = 5
RIDGE = 0.1
"""Of the pooled correlation matrix: (1 - RIDGE) S + RIDGE I."""
PERMUTATIONS = 199
TELLS_P = 0.05


@dataclass(frozen=True, kw_only=True)
class Teller:
    """One counter: how well it alone tells the components apart."""

    counter: str
    auc: float
    """Probability that a run of the upper component has the larger value: 0.5 says nothing. Of two components."""
    p: float
    """Mann-Whitney (Kruskal-Wallis for more than two), Holm-adjusted over the counters."""
    medians: tuple[float, ...]
    """By component, in the order of their means."""


@dataclass(frozen=True, kw_only=True)
class Separation:
    """What the counters say about the components of one configuration."""

    n: int
    sizes: tuple[int, ...]
    accuracy: float
    """Balanced, out of fold: chance is 1 / number of components."""
    p: float
    tellers: tuple[Teller, ...]
    """Best first."""

    @property
    def tells(self) -> bool:
        """Do the counters tell the components apart better than chance?"""
        return self.p <= TELLS_P


def separate(
    components: Indices, counters: Mapping[str, Array], rng: np.random.Generator, permutations: int = PERMUTATIONS
) -> Separation:
    """`components`: of each run, the component it most likely belongs to, numbered by mean. `counters`: per run.

    The classifier sees the counters that every run told and that vary; alone, a counter is looked at in the runs that
    told it, where these are enough (rotated ones are told by some). Raises TooFewSamplesError.
    """
    sizes = np.unique(components, return_counts=True)[1]
    if len(sizes) < 2 or sizes.min() < FEWEST_IN_COMPONENT:
        told = ", ".join(map(str, sizes.tolist()))
        raise TooFewSamplesError(f"components of {told} runs: two with {FEWEST_IN_COMPONENT} runs each are needed")
    usable = {name: log_rate(x) for name, x in counters.items() if np.all(np.isfinite(x)) and np.ptp(x) > 0}
    if not usable:
        raise TooFewSamplesError("no counter was told for every run and varies")
    x = np.column_stack(list(usable.values()))
    numbers = np.unique(components, return_inverse=True)[1].astype(np.int64)
    accuracy = _balanced_accuracy(x, numbers, np.random.default_rng(0))
    reached = sum(
        _balanced_accuracy(x, rng.permutation(numbers), np.random.default_rng(0)) >= accuracy
        for _ in range(permutations)
    )
    return Separation(
        n=len(numbers),
        sizes=tuple(sizes.tolist()),
        accuracy=accuracy,
        p=(1 + reached) / (1 + permutations),
        tellers=_tellers(counters, numbers),
    )


def _tellers(counters: Mapping[str, Array], numbers: Indices) -> tuple[Teller, ...]:
    count = int(numbers.max()) + 1
    found = []
    for name, column in counters.items():
        told = np.isfinite(column)
        x, parts = column[told], [column[told & (numbers == k)] for k in range(count)]
        if min(map(len, parts)) < FEWEST_IN_COMPONENT or np.ptp(x) == 0:
            continue
        upper = stats.mannwhitneyu(parts[-1], parts[0], alternative="two-sided")
        p = float(upper.pvalue if count == 2 else stats.kruskal(*parts).pvalue)
        auc = float(upper.statistic) / (len(parts[0]) * len(parts[-1]))
        found.append((name, auc, p, tuple(float(np.median(part)) for part in parts)))
    found.sort(key=lambda one: (one[2], -abs(one[1] - 0.5)))
    adjusted = np.maximum.accumulate([min(1.0, one[2] * (len(found) - k)) for k, one in enumerate(found)])
    return tuple(
        Teller(counter=name, auc=auc, p=float(p), medians=medians)
        for (name, auc, _, medians), p in zip(found, adjusted, strict=True)
    )


def _balanced_accuracy(x: Array, numbers: Indices, rng: np.random.Generator) -> float:
    """Mean share of each component that is recognised out of fold; folds hold a share of each."""
    fold = np.empty(len(numbers), dtype=np.int64)
    for k in range(int(numbers.max()) + 1):
        members = rng.permutation(np.flatnonzero(numbers == k))
        fold[members] = np.arange(len(members)) % FOLDS
    told = np.empty(len(numbers), dtype=np.int64)
    for held in range(FOLDS):
        train = fold != held
        told[~train] = _classified(x[train], numbers[train], x[~train])
    return float(np.mean([np.mean(told[numbers == k] == k) for k in range(int(numbers.max()) + 1)]))


def _classified(x: Array, numbers: Indices, new: Array) -> Indices:
    """Regularised linear discriminant analysis with equal priors."""
    middle, spread = x.mean(axis=0), x.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    x, new = (x - middle) / spread, (new - middle) / spread
    means = np.array([x[numbers == k].mean(axis=0) for k in range(int(numbers.max()) + 1)])
    within = x - means[numbers]
    pooled = (1 - RIDGE) * within.T @ within / max(1, len(x) - len(means)) + RIDGE * np.eye(x.shape[1])
    directions = np.linalg.solve(pooled, means.T)
    scores = new @ directions - 0.5 * np.sum(means.T * directions, axis=0)
    found: Indices = np.argmax(scores, axis=1)
    return found
