"""What if a counter changed by p %: correlated counters follow it, and the model says what becomes of the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from analysis.arrays import Array, Indices
from analysis.counters import mummi
from analysis.counters.drawing import resampled
from analysis.counters.errors import NoSuchColumnError, OutsideRangeError
from analysis.counters.majors import spearman
from analysis.counters.samples import Samples

FOLLOWS = 0.5
"""A counter follows another when their rank correlation is at least this, either way."""
RESAMPLES = 200
LOW, HIGH = 2.5, 97.5
FREQUENCY = "frequency"


@dataclass(frozen=True, kw_only=True)
class Follower:
    """A counter that goes along."""

    counter: str
    spearman: float
    change_percent: float


@dataclass(frozen=True, kw_only=True)
class Change:
    """What the model says of one target; intervals are of 95 %, from samples drawn anew."""

    target: str
    before: float
    after: float
    change_percent: float
    low_percent: float
    high_percent: float
    alone_percent: float
    """If nothing followed."""
    followers: tuple[Follower, ...]
    in_model: bool
    """Is the counter, or one that follows it, a term of the model? Otherwise nothing can change."""


def what_if(
    samples: Samples, model: mummi.Model, counter: str, percent: float, rng: np.random.Generator, *,
    groups: Indices, resamples: int = RESAMPLES,
) -> Change:  # fmt: skip
    """Change one rate (or `frequency`) by so many per cent, from the median sample; the others follow by regression.

    `groups` numbers configurations: the resampling draws them whole. The terms of the model stay those that were
    chosen. Raises OutsideRangeError where the new value is none that was seen, NoSuchColumnError for a counter that
    there is not.
    """
    _check(samples, counter, percent)
    names = [term.counter for term in model.terms]
    followers = () if counter == FREQUENCY else tuple(_followers(samples, counter))
    everywhere = [counter, *followers]
    at = _middle(samples, list(dict.fromkeys([*names, *everywhere])))
    question = _Question(model=model, at=at, counter=counter, percent=percent, followers=followers)
    found = question.effect(samples)
    drawn = [question.effect(again).percent for again in resampled(samples, groups, resamples, rng)]
    low, high = np.percentile(drawn, [LOW, HIGH]) if drawn else (np.nan, np.nan)
    return Change(
        target=model.target,
        before=found.before,
        after=found.after,
        change_percent=found.percent,
        low_percent=float(low),
        high_percent=float(high),
        alone_percent=replace(question, followers=()).effect(samples).percent,
        followers=tuple(_told(samples, counter, name, _percent(found.rates[name], at[name])) for name in followers),
        in_model=counter == FREQUENCY or bool({*everywhere} & {*names}),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Effect:
    before: float
    after: float
    rates: dict[str, float]

    @property
    def percent(self) -> float:
        return _percent(self.after, self.before)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Question:
    """What changes, from where, and what goes along."""

    model: mummi.Model
    at: dict[str, float]
    counter: str
    percent: float
    followers: tuple[str, ...]

    def effect(self, samples: Samples) -> _Effect:
        """Fit the terms to these samples, and predict before and after."""
        names = [term.counter for term in self.model.terms]
        ahead, coefficients = mummi.refit(samples, self.model.target, names, self.model.form)
        changed = dict(self.at)
        changed[self.counter] *= 1 + self.percent / 100
        for name in self.followers:
            slope = _slope(samples.rates[self.counter], samples.rates[name])
            low, high = float(samples.rates[name].min()), float(samples.rates[name].max())
            new = self.at[name] + slope * (changed[self.counter] - self.at[self.counter])
            changed[name] = float(np.clip(new, low, high))
        before, after = (_predicted(self.model.form, names, ahead, coefficients, place) for place in (self.at, changed))
        return _Effect(before=before, after=after, rates=changed)


def _check(samples: Samples, counter: str, percent: float) -> None:
    column = samples.frequency_ghz if counter == FREQUENCY else samples.rates.get(counter)
    if column is None:
        known = [*samples.rates, *([] if samples.frequency_ghz is None else [FREQUENCY])]
        raise NoSuchColumnError(f"no counter that varies is named {counter!r}; there are {', '.join(known)}")
    middle, low, high = float(np.median(column)), float(column.min()), float(column.max())
    new = middle * (1 + percent / 100)
    if not low <= new <= high:
        least, most = (f"{(edge / middle - 1) * 100:+.0f} %" if middle else "0 %" for edge in (low, high))
        raise OutsideRangeError(
            f"{counter} {percent:+g} % is {new:.4g}, outside of what was measured ({low:.4g} to {high:.4g}): "
            f"from the median {middle:.4g}, changes from {least} to {most} can be answered"
        )


def _followers(samples: Samples, counter: str) -> list[str]:
    others = [name for name in samples.rates if name != counter]
    correlation = spearman(samples.matrix(others), samples.rates[counter])[0] if others else np.zeros(0)
    return [name for name, value in zip(others, correlation, strict=True) if abs(value) >= FOLLOWS]


def _middle(samples: Samples, names: Sequence[str]) -> dict[str, float]:
    at = {name: float(np.median(samples.rates[name])) for name in names if name in samples.rates}
    if samples.frequency_ghz is not None:
        at[FREQUENCY] = float(np.median(samples.frequency_ghz))
    return at


def _predicted(
    form: mummi.Form, names: Sequence[str], ahead: Array, coefficients: Array, at: dict[str, float]
) -> float:
    f = np.array([at[FREQUENCY]]) if FREQUENCY in at else None
    column = mummi.frequency_term(f, form)
    of_frequency = 0.0 if column is None else float(ahead[1] * column[0])
    return (
        float(ahead[0]) + of_frequency + float(sum(b * at[name] for b, name in zip(coefficients, names, strict=True)))
    )


def _slope(x: Array, y: Array) -> float:
    """Of the least-squares line of `y` on `x`; 0 where `x` is constant."""
    centred = x - x.mean()
    spread = float(centred @ centred)
    return float(centred @ (y - y.mean())) / spread if spread > 0 else 0.0


def _percent(after: float, before: float) -> float:
    return (after / before - 1) * 100 if before else 0.0


def _told(samples: Samples, counter: str, name: str, percent: float) -> Follower:
    correlation = spearman(samples.matrix([name]), samples.rates[counter])[0]
    return Follower(counter=name, spearman=float(correlation[0]), change_percent=percent)
