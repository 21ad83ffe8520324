"""Traces with known truth: ranks that are slow for a while, and counters of which three tell so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array
from analysis.criticality import Samples, Trace

COUNTERS = tuple(f"c{number}" for number in range(10))
INFORMATIVE = {"c0": 1.0, "c1": 0.7, "c2": 0.4}
"""Gains, as multiples of the signal-to-noise ratio."""


@dataclass(frozen=True, kw_only=True)
class Generated:
    """A trace, its counters, and each rank's own true time."""

    trace: Trace
    samples: Samples
    own_time: Samples


def generate(
    *,
    ranks: int,
    collectives: int,
    snr: float,
    rng: np.random.Generator,
    base_s: float = 0.1,
    share: float = 0.15,
    persistence: float = 0.7,
    samples: int = 1,
) -> Generated:
    """R ranks, each slow a share of the time, from one collective to the next with that persistence."""
    shape = (collectives, ranks)
    slow = _slow(collectives, ranks, share, persistence, rng)
    slowed = 0.25 * slow * np.exp(0.4 * rng.standard_normal(shape))
    delay_s = base_s * (slowed + 0.02 * np.abs(rng.standard_normal(shape)))
    time_s = base_s * (1 + 0.01 * rng.standard_normal(shape)) + delay_s
    # Everybody goes on when the last one has arrived.
    released_s = np.cumsum(np.max(time_s, axis=1))
    trace = Trace(
        settings=("generated",),
        collectives=tuple(str(number) for number in range(collectives)),
        ranks=tuple(str(number) for number in range(ranks)),
        setting_of=np.zeros(collectives, dtype=np.int64),
        arrival_s=time_s + np.concatenate([[0.0], released_s[:-1]])[:, None],
    )
    standard = (delay_s - np.mean(delay_s)) / np.std(delay_s)
    values = rng.standard_normal((collectives, ranks, samples, len(COUNTERS)))
    for place, name in enumerate(COUNTERS):
        values[..., place] += snr * INFORMATIVE.get(name, 0.0) * standard[..., None]
    return Generated(
        trace=trace,
        samples=_samples(COUNTERS, values),
        own_time=_samples(("true_time",), time_s[..., None, None]),
    )


def _slow(collectives: int, ranks: int, share: float, persistence: float, rng: np.random.Generator) -> Array:
    """(K, R) 1 while slow. A slow rank stays so with the persistence; the others become slow to keep the share."""
    become = share * (1 - persistence) / (1 - share)
    slow = np.zeros((collectives, ranks))
    slow[0] = rng.random(ranks) < share
    for row in range(1, collectives):
        slow[row] = rng.random(ranks) < np.where(slow[row - 1] > 0, persistence, become)
    return slow


def _samples(names: Sequence[str], values: Array) -> Samples:
    collectives, ranks, count, width = values.shape
    return Samples(
        names=tuple(names),
        values=values.reshape(-1, width),
        collective=np.repeat(np.arange(collectives), ranks * count),
        rank=np.tile(np.repeat(np.arange(ranks), count), collectives),
    )
