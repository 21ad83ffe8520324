"""The smallest n that meets a target, and how sure that is.

The selected mixture alone asks for too few runs too often: a pilot of 40 hardly tells mixtures apart. Unless one
estimator is named, n is therefore enough for the sample's quantile (which under the model always needs more runs than
the fit's) under the selected mixture, and under mixtures that hold three quarters of the BIC weight (measured in
docs/sample-size.md).
"""

from dataclasses import dataclass, replace
from math import ceil, inf, isfinite

import numpy as np
from numpy.typing import ArrayLike

from analysis.mixture import Fit, redraw
from analysis.sample_size.candidates import Candidates
from analysis.sample_size.precision import Precision, of_fit, of_sample
from analysis.sample_size.target import LEAST, Centre, Target, allowed_errors, centre_of_sample

SUPPORT = 0.75
RESAMPLES = 50
INTERVAL = (0.1, 0.9)
MANY = 10**9  # stands for a number of runs without end


@dataclass(frozen=True, kw_only=True)
class Need:
    """How many runs meet a target. Numbers of runs are exact, not rounded up; inf where none would do."""

    needed: float
    by_fit: float | None  # for the fit's quantile under the selected mixture; None where it has no standard error
    by_sample: float  # for the sample's quantile under the selected mixture
    pilot: int  # runs there are; 0 for a known model
    max_n: int

    def times(self, inflation: float) -> "Need":
        """For so many times as many runs: those of a job are alike (`dependent.inflation`)."""
        by_fit = None if self.by_fit is None else self.by_fit * inflation
        needed, by_sample = self.needed * inflation, self.by_sample * inflation
        return replace(self, needed=needed, by_fit=by_fit, by_sample=by_sample)

    @property
    def n(self) -> int:
        """The runs to make altogether: never below 30 nor the pilot, and beyond the pilot at most `max_n`."""
        return max(self.pilot, min(self.uncapped, self.max_n))

    @property
    def uncapped(self) -> int:
        """The same without `max_n`."""
        return max(self.pilot, rounded(self.needed), LEAST)

    @property
    def met(self) -> bool:
        """Whether `n` runs are enough; if not, the target is not within `max_n`."""
        return rounded(self.needed) <= self.n


def need(candidates: Candidates, target: Target, centre: Centre, x: ArrayLike | None = None) -> Need:
    """The runs that a target asks for; x are the runs there are, shape (n,), None for a known model."""
    best = candidates.best
    by_fit = _runs(best, target, centre, [of_fit(best, q) for q in target.quantiles])
    by_sample = _by_sample(best, target, centre, x)
    if target.estimator == "fit" and by_fit is not None:
        needed = by_fit
    elif target.estimator is not None:
        needed = by_sample
    else:
        needed = max(by_sample, _supported(candidates, target, centre, x))
    pilot = 0 if x is None else np.size(x)
    return Need(needed=needed, by_fit=by_fit, by_sample=by_sample, pilot=pilot, max_n=target.max_n)


def interval(
    candidates: Candidates, target: Target, x: ArrayLike, *, rng: np.random.Generator, resamples: int = RESAMPLES
) -> tuple[int, int]:
    """The 80 % interval of n over draws of the runs x, each with a selection of its own among `candidates.possible`.

    Never below 30 nor the pilot, and not capped by `max_n`.
    """
    found = []
    for drawn, table in redraw(x, candidates.possible, options=candidates.options, rng=rng, resamples=resamples):
        again = Candidates.among(table, candidates.options)
        found.append(min(need(again, target, centre_of_sample(drawn), drawn).needed, MANY))
    low, high = np.quantile(found, INTERVAL)
    least = max(LEAST, np.size(x))
    return max(least, rounded(float(low))), max(least, rounded(float(high)))


def rounded(needed: float) -> int:
    """The smallest whole number that is enough; at most 10^9."""
    return min(ceil(needed * (1 - 1e-12)), MANY) if isfinite(needed) else MANY


def _by_sample(fit: Fit, target: Target, centre: Centre, x: ArrayLike | None) -> float:
    found = _runs(fit, target, centre, [of_sample(fit, q, x) for q in target.quantiles])
    return inf if found is None else found


def _runs(fit: Fit, target: Target, centre: Centre, precisions: list[Precision]) -> float | None:
    """The most that any quantile needs: (error of one run / allowed error) squared."""
    errors = [one.unit_error for one in precisions]
    allowed = allowed_errors(target, fit, centre, precisions)
    if any(error is None for error in errors):
        return None
    pairs = zip(errors, allowed, strict=True)
    ratios = [error / most if most > 0 else inf for error, most in pairs if error is not None]
    return max(ratio * ratio for ratio in ratios)  # a power would not overflow to inf


def _supported(candidates: Candidates, target: Target, centre: Centre, x: ArrayLike | None) -> float:
    """The runs that are enough under mixtures that hold `SUPPORT` of the BIC weight."""
    runs = np.array([_by_sample(one, target, centre, x) for one in candidates.possible])
    order = np.argsort(runs)
    held = np.cumsum(candidates.weights_of(candidates.possible)[order])
    return float(runs[order][np.searchsorted(held, SUPPORT * held[-1])])
