"""What jobs with the same key did before: exponentially weighted mean of log throughput, last run, mean.

A key that was never seen is relaxed, one part after the other from its end, until some job shares what is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from analysis.arrays import Array, Flags
from analysis.log_prediction.jobs import Jobs, Key
from analysis.log_prediction.timeline import timeline

HALF_LIFE = 5.0  # runs after which a run counts half


def share_of_newest(half_life: float) -> float:
    """The weight of the newest of many runs in an exponentially weighted mean."""
    return float(1.0 - 0.5 ** (1.0 / half_life))


@dataclass(slots=True)
class Past:
    """The jobs of one key that have ended. Throughputs are logarithms."""

    weighted: float
    last: float
    mean: float
    last_end_s: float
    count: int = 1
    variance: float = 0.05  # of what the history missed by; where it starts hardly matters after ten runs
    missed: list[float] = field(default_factory=list)  # by how much the history missed, newest last

    def add(self, log_throughput: float, end_s: float, missed: float) -> None:
        """One more job of this key has ended."""
        self.count += 1
        self.weighted += share_of_newest(HALF_LIFE) * (log_throughput - self.weighted)
        self.mean += (log_throughput - self.mean) / self.count
        self.last, self.last_end_s = log_throughput, end_s
        self.variance += 0.1 * (missed**2 - self.variance)
        self.missed = [*self.missed[-9:], missed]


class History:
    """Every key's past, and that of every relaxed key."""

    def __init__(self) -> None:
        self._pasts: dict[Key, Past] = {}

    def of(self, key: Key) -> tuple[int, Past] | None:
        """How many parts of the key had to be given up, and the past of what is left; None before any job has ended."""
        for given_up, shorter in enumerate(relaxed(key)):
            past = self._pasts.get(shorter)
            if past is not None:
                return given_up, past
        return None

    def add(self, key: Key, log_throughput: float, end_s: float) -> None:
        """A job of this key has ended."""
        for shorter in relaxed(key):
            past = self._pasts.get(shorter)
            if past is None:
                self._pasts[shorter] = Past(
                    weighted=log_throughput, last=log_throughput, mean=log_throughput, last_end_s=end_s
                )
            else:
                past.add(log_throughput, end_s, log_throughput - past.weighted)


def relaxed(key: Key) -> Iterator[Key]:
    """The key, then without its last part, and so on to the empty key that all jobs share."""
    return (key[:length] for length in range(len(key), -1, -1))


@dataclass(frozen=True, kw_only=True)
class Forecasts:
    """Of every job, (n,), as logarithms; NaN before any job has ended."""

    weighted: Array
    last: Array
    spread: Array  # sd of what the weighted history missed by lately


def forecasts(jobs: Jobs) -> Forecasts:
    """What the histories say of each job when it starts."""
    history, found = History(), np.full((3, len(jobs)), np.nan)
    for place, request, ended in timeline(jobs):
        for one, asked, outcome in ended:
            history.add(asked.key, outcome.log_throughput, float(jobs.end_s[one]))
        known = history.of(request.key)
        if known is not None:
            found[:, place] = known[1].weighted, known[1].last, np.sqrt(known[1].variance)
    return Forecasts(weighted=found[0], last=found[1], spread=found[2])


def key_means(jobs: Jobs, training: Flags) -> Array:
    """Log of the mean throughput of the training jobs with the same key, (n,): a model that never learns more."""
    sums: dict[Key, list[float]] = {}
    for place in np.flatnonzero(training):
        for shorter in relaxed(jobs.keys[place]):
            sums.setdefault(shorter, []).append(float(jobs.throughput[place]))
    means = {key: float(np.log(np.mean(values))) for key, values in sums.items()}
    return np.array([next(means[shorter] for shorter in relaxed(key) if shorter in means) for key in jobs.keys])
