"""How much each counter tells of the label: information gain, and whether the best ones stay the best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array, Flags, Indices

BINS = 10
TOP = 5
RESAMPLES = 50


@dataclass(frozen=True, kw_only=True)
class Gain:
    """Bits that a counter tells of the label, and in what share of resamples it was among the five that tell most."""

    name: str
    bits: float
    stability: float
    auc: float
    """Of the counter alone, in the direction that it has in what was learnt from."""


def information(x: Array, y: Flags, weights: Array | None = None) -> Array:
    """(d,) the mutual information, in bits, of each column in ten bins of equally many samples and the label.

    What a column without any information would show by chance, (bins - 1) / (2 n ln 2), is taken off.
    """
    count = np.ones(len(y)) if weights is None else weights
    return np.array([_of_bins(bins, y, count) for bins in binned(x)])


def binned(x: Array) -> list[Indices]:
    """The bin of each value, column by column; equal values share a bin."""
    found = []
    for column in x.T:
        borders = np.unique(np.quantile(column, np.linspace(0, 1, BINS + 1)[1:-1]))
        found.append(np.searchsorted(borders, column, side="right"))
    return found


def _of_bins(bins: Indices, y: Flags, count: Array) -> float:
    table = np.stack([np.bincount(bins, count * side, BINS) for side in (y, ~y)])
    total = float(np.sum(table))
    joint = table / total
    expected = np.sum(joint, axis=0) * np.sum(joint, axis=1)[:, None]
    some = joint > 0
    bits = float(np.sum(joint[some] * np.log2(joint[some] / expected[some])))
    used = int(np.sum(np.sum(table, axis=0) > 0))
    return bits - (used - 1) / (2 * total * float(np.log(2)))


def stability(x: Array, y: Flags, collective: Indices, rng: np.random.Generator) -> Array:
    """(d,) how often each column is among the five that tell most, over resamples of whole collectives."""
    all_bins = binned(x)
    numbers = np.unique(collective, return_inverse=True)[1]
    groups = int(numbers.max()) + 1
    times = np.zeros(x.shape[1])
    for _ in range(RESAMPLES):
        drawn = np.bincount(rng.integers(groups, size=groups), minlength=groups).astype(np.float64)
        bits = np.array([_of_bins(bins, y, drawn[numbers]) for bins in all_bins])
        times[np.argsort(-bits, kind="stable")[:TOP]] += 1
    share: Array = times / RESAMPLES
    return share
