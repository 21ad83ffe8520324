"""The paper's form: T = b0 + sum b_i r_i + b / f for runtimes, P = a0 + sum a_i r_i + a f^3 for powers.

Non-negative least squares of relative errors, because error rates are relative. All coefficients and rates are at least
0, so no prediction is negative. Source: Wu, Taylor, Lan, "Performance and power modeling and prediction using MuMMI and
ten machine learning methods" (2020).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Literal

import numpy as np
from scipy.optimize import nnls

from analysis.arrays import Array
from analysis.counters.features import DECADE
from analysis.counters.majors import Majors, majors, spearman
from analysis.counters.samples import Samples

Form = Literal["1/f", "f^3", "f", "none"]
RESIDUAL_P = 0.01
"""A counter that was not chosen comes in when its rank correlation with the residuals has a smaller p (Bonferroni)."""
MOST_ROUNDS = 20
EXCHANGE = 1e-6
"""An exchange of counters makes the squares smaller by this share at least, so that it ends."""
LOG_ROUNDS = 6
GAMMA = 0.5
"""Of the extended BIC (Chen and Chen 2008): how much choosing among many counters costs."""


@dataclass(frozen=True, kw_only=True)
class Term:
    """One counter of the model."""

    counter: str
    coefficient: float
    """Of the rate; in the target's unit."""
    share: float
    """Of the mean target: coefficient x mean rate / mean prediction."""
    unique: float
    """How much of the explained variation is lost without it, the others fitted anew: 0 to 1."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Model:
    """A fitted form."""

    target: str
    form: Form
    intercept: float
    frequency_coefficient: float
    terms: tuple[Term, ...]
    """Those with a coefficient above 0, largest `unique` first."""
    chosen: Majors
    """What made counters candidates, in the order of `counters`."""
    counters: tuple[str, ...]
    gains: tuple[float, ...]
    """For each of `counters`: what `unique` it would have if it came in as well; 0 for those that are in."""
    n: int
    mean_error_percent: float
    """Mean absolute error rate on the samples it was fitted to."""
    explained: float
    """1 - squared relative errors / those of the best constant."""

    def predict(self, samples: Samples) -> Array:
        """Predicted targets, never negative."""
        found = np.full(samples.n, self.intercept)
        for term in self.terms:
            found += term.coefficient * np.maximum(samples.rates[term.counter], 0)
        column = frequency_term(samples.frequency_ghz, self.form)
        if column is not None:
            found += self.frequency_coefficient * column
        return found


def natural_form(target: str) -> Form:
    """The paper's: f^3 for powers, 1 / f for everything else."""
    return "f^3" if "power" in target.lower() else "1/f"


def frequency_term(frequency_ghz: Array | None, form: Form) -> Array | None:
    """The column of the frequency; None where there is no frequency or no such term."""
    if frequency_ghz is None or form == "none":
        return None
    column: Array = {"1/f": lambda f: 1 / f, "f^3": lambda f: f**3, "f": lambda f: f}[form](frequency_ghz)
    return column


def fit(samples: Samples, target: str, *, form: Form | None = None) -> Model:
    """Choose the major counters and fit; counters that the fit can do without are taken out by the extended BIC."""
    form = form or natural_form(target)
    names = tuple(samples.rates)
    data = _data(samples, target, names, form)
    chosen = majors(data.rates, data.y)
    kept = _searched(data, set(np.flatnonzero(chosen.chosen).tolist()))
    coefficients, squares = data.fitted(kept)
    constant = data.constant
    predicted = data.design(kept) @ coefficients
    return Model(
        target=target,
        form=form,
        intercept=float(coefficients[0]),
        frequency_coefficient=float(coefficients[1]) if data.ahead > 1 else 0.0,
        terms=_terms(data, names, kept),
        chosen=chosen,
        counters=names,
        gains=_gains(data, kept),
        n=samples.n,
        mean_error_percent=float(np.mean(np.abs(predicted / data.y - 1)) * 100),
        explained=1 - squares / constant if constant > 0 else 0.0,
    )


def refit(samples: Samples, target: str, counters: Sequence[str], form: Form) -> tuple[Array, Array]:
    """Coefficients of the intercept and the frequency, then of the named counters; for resampled samples."""
    data = _data(samples, target, counters, form)
    found = data.fitted(range(len(counters)))[0]
    ahead = np.zeros(2)
    ahead[: data.ahead] = found[: data.ahead]
    return ahead, found[data.ahead :]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Data:
    """Columns that always are in the model, those of the counters, and the target."""

    fixed: Array
    rates: Array
    y: Array

    @property
    def ahead(self) -> int:
        """How many coefficients come before those of the counters."""
        return int(self.fixed.shape[1])

    @property
    def constant(self) -> float:
        """The squares of the best constant."""
        return _nnls(self.fixed[:, :1], self.y)[1]

    def design(self, kept: Sequence[int]) -> Array:
        return np.hstack([self.fixed, self.rates[:, list(kept)]])

    def fitted(self, kept: Sequence[int]) -> tuple[Array, float]:
        return _nnls(self.design(kept), self.y)

    def squares(self, kept: Sequence[int]) -> float:
        return self.fitted(kept)[1]

    def outside(self, kept: Sequence[int]) -> list[int]:
        inside = set(kept)
        return [k for k in range(self.rates.shape[1]) if k not in inside]

    def criterion(self, squares: float, count: int) -> float:
        """The extended BIC of a model of so many counters."""
        n, among = self.rates.shape
        return float(n * log(max(squares, 1e-300) / n) + count * (log(n) + 2 * GAMMA * log(max(among, 1))))


def _data(samples: Samples, target: str, counters: Sequence[str], form: Form) -> _Data:
    column = frequency_term(samples.frequency_ghz, form)
    ones = np.ones(samples.n)
    fixed = np.column_stack([ones] if column is None else [ones, column])
    return _Data(fixed=fixed, rates=samples.matrix(counters), y=samples.target(target))


def _nnls(design: Array, y: Array) -> tuple[Array, float]:
    """Coefficients, and the sum of squared relative errors; of squared log errors where y spans a decade.

    Over decades relative errors would be small for a model that says nearly 0 everywhere: there, by iterated weights
    1 / sqrt(y prediction), for log(p / y) is about (p - y) / sqrt(p y).
    """
    coefficients, squares = _weighted(design, y, 1 / y)
    for _ in range(LOG_ROUNDS if y.max() >= DECADE * y.min() else 0):
        predicted = np.clip(design @ coefficients, y / DECADE, y * DECADE)
        coefficients, squares = _weighted(design, y, 1 / np.sqrt(y * predicted))
    return coefficients, squares


def _weighted(design: Array, y: Array, weights: Array) -> tuple[Array, float]:
    weighted = design * weights[:, np.newaxis]
    sizes = np.linalg.norm(weighted, axis=0)
    sizes[sizes == 0] = 1.0
    coefficients, residual = nnls(weighted / sizes, y * weights, maxiter=50 * design.shape[1])
    return coefficients / sizes, float(residual**2)


def _searched(data: _Data, start: set[int]) -> list[int]:
    """From the major counters: thin out, ask the residuals for one that is missing, exchange; until nothing changes."""
    kept = _thinned(data, start)
    for _ in range(MOST_ROUNDS):
        more = _missing(data, kept)
        grown = kept if more is None else _thinned(data, {*kept, more})
        if set(grown) == set(kept):
            grown = _exchanged(data, kept)
        if set(grown) == set(kept):
            break
        kept = grown
    return kept


def _thinned(data: _Data, start: set[int]) -> list[int]:
    """Backward elimination: while the criterion falls, take out the counter that is missed least."""
    coefficients, squares = data.fitted(sorted(start))
    kept = [k for k, value in zip(sorted(start), coefficients[data.ahead :], strict=True) if value > 0]
    best = data.criterion(squares, len(kept))
    while kept:
        without = [data.squares([k for k in kept if k != gone]) for gone in kept]
        place = int(np.argmin(without))
        criterion = data.criterion(without[place], len(kept) - 1)
        if criterion > best:
            break
        best = criterion
        del kept[place]
    return kept


def _missing(data: _Data, kept: Sequence[int]) -> int | None:
    """The counter outside that goes with the relative residuals most, upwards, if it does significantly."""
    outside = data.outside(kept)
    if not outside:
        return None
    residuals = 1 - data.design(kept) @ data.fitted(kept)[0] / data.y
    correlation, p = spearman(data.rates[:, outside], residuals)
    p = np.where(correlation > 0, p, 1.0)
    place = int(np.argmin(p))
    return outside[place] if p[place] * len(outside) <= RESIDUAL_P else None


def _exchanged(data: _Data, kept: list[int]) -> list[int]:
    """The best exchange of one counter for another: of correlated ones, the first that came in may be the wrong one."""
    best, found = data.squares(kept) * (1 - EXCHANGE), kept
    for gone in kept:
        others = [k for k in kept if k != gone]
        for new in data.outside(kept):
            squares = data.squares([*others, new])
            if squares < best:
                best, found = squares, sorted([*others, new])
    return found


def _gains(data: _Data, kept: Sequence[int]) -> tuple[float, ...]:
    squares, constant, inside = data.squares(kept), data.constant, set(kept)
    return tuple(
        0.0 if k in inside or constant == 0 else max(0.0, squares - data.squares([*kept, k])) / constant
        for k in range(data.rates.shape[1])
    )


def _terms(data: _Data, names: Sequence[str], kept: Sequence[int]) -> tuple[Term, ...]:
    (coefficients, squares), constant = data.fitted(kept), data.constant
    mean = float((data.design(kept) @ coefficients).mean())
    terms = []
    for k, coefficient in zip(kept, coefficients[data.ahead :].tolist(), strict=True):
        if coefficient > 0:
            lost = data.squares([j for j in kept if j != k]) - squares
            terms.append(
                Term(
                    counter=names[k],
                    coefficient=coefficient,
                    share=coefficient * float(data.rates[:, k].mean()) / mean,
                    unique=max(0.0, lost / constant) if constant > 0 else 0.0,
                )
            )
    return tuple(sorted(terms, key=lambda term: -term.unique))
