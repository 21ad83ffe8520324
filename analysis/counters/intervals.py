"""How well the coefficients of a model are known, and whether its term of the frequency has the right shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats

from analysis.arrays import Array, Indices
from analysis.counters import mummi
from analysis.counters.drawing import resampled
from analysis.counters.samples import Samples

RESAMPLES = 200
LOW, HIGH = 2.5, 97.5
FEWEST_LEVELS = 4
MUCH_NEARER = 0.8
"""Another form of the frequency is told when its error rate is at most this share of the model's."""


@dataclass(frozen=True, kw_only=True)
class Interval:
    """95 %, from configurations drawn anew."""

    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Level:
    """The mean error rate of the model at one frequency; 95 % by Student's t."""

    frequency_ghz: float
    n: int
    mean_percent: float
    low_percent: float
    high_percent: float

    @property
    def is_off(self) -> bool:
        """The model is wrong here on average."""
        return not self.low_percent <= 0 <= self.high_percent


def coefficients(
    samples: Samples, model: mummi.Model, groups: Indices, rng: np.random.Generator, resamples: int = RESAMPLES
) -> dict[str, Interval]:
    """Intervals by name: `intercept`, `frequency`, and every counter of the model."""
    names = [term.counter for term in model.terms]
    drawn = [
        np.concatenate(mummi.refit(again, model.target, names, model.form))
        for again in resampled(samples, groups, resamples, rng)
    ]
    low, high = np.percentile(np.array(drawn), [LOW, HIGH], axis=0)
    return {
        name: Interval(low=float(low[k]), high=float(high[k]))
        for k, name in enumerate(("intercept", "frequency", *names))
    }


def by_frequency(samples: Samples, predicted: Array, measured: Array) -> tuple[Level, ...]:
    """The mean error rate at each frequency, where there are several levels with several samples each."""
    if samples.frequency_ghz is None:
        return ()
    rates = (predicted / measured - 1) * 100
    levels = np.unique(samples.frequency_ghz)
    here = [rates[samples.frequency_ghz == level] for level in levels]
    if len(levels) < FEWEST_LEVELS or min(map(len, here)) < 3:
        return ()
    found = []
    for level, some in zip(levels, here, strict=True):
        half = float(stats.t.ppf(0.975, len(some) - 1) * some.std(ddof=1) / np.sqrt(len(some)))
        mean = float(some.mean())
        found.append(
            Level(
                frequency_ghz=float(level), n=len(some), mean_percent=mean, low_percent=mean - half,
                high_percent=mean + half,
            )
        )  # fmt: skip
    return tuple(found)


def forms(samples: Samples, target: str) -> dict[mummi.Form, float]:
    """The mean absolute error rate of each form of the frequency, fitted to all samples."""
    names: tuple[mummi.Form, ...] = ("1/f", "f^3", "f", "none")
    if samples.frequency_ghz is None or np.ptp(samples.frequency_ghz) == 0:
        return {}
    return {form: mummi.fit(samples, target, form=form).mean_error_percent for form in names}


def better_form(form: mummi.Form, errors: Mapping[mummi.Form, float]) -> mummi.Form | None:
    """The form with the smallest error rate, where it is much smaller: then this one has the wrong shape."""
    if form not in errors:
        return None
    best = min(errors, key=lambda name: errors[name])
    return best if errors[best] <= MUCH_NEARER * errors[form] else None
