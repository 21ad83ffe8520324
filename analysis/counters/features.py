"""What the methods learn from: log rates, 1 / f, f^3, and the labels that are quantities."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array
from analysis.counters.errors import NoSuchColumnError
from analysis.counters.samples import Samples

PLACES = frozenset({"host", "node", "system", "machine", "site", "cluster", "file"})
"""Labels that say where, not what: never learned from unless asked for."""
NUMBERED = re.compile(r"(.*_)?(id|no|number|index|case|sample|cell|config(uration)?|setting|seed)")
"""Labels that number things: what is near by number is not alike, so they are never learned from unless asked for."""
MOST_WORDS = 12
"""A label of words that is asked for becomes one column a word when it has at most so many."""
DECADE = 10.0
"""A positive quantity that spans this factor is taken on the log scale."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Features:
    """Columns with their names; `counters` are those that stand for a counter."""

    names: tuple[str, ...]
    matrix: Array
    counters: tuple[str, ...]


def features(samples: Samples, factors: Sequence[str] | None = None) -> Features:
    """The features of samples; `factors` are the labels to learn from (by default those that are quantities).

    Words are left out by default: a column a word makes samples with equal words near for every method that measures
    distances, which tripled the error rates of nearest neighbours on real counters (docs/counters.md).
    Rates are taken on the log scale, as the log of r plus half the smallest positive one: counters span decades, and
    what they do to a runtime is a matter of ratios.
    """
    columns = {name: log_rate(column) for name, column in samples.rates.items()}
    if samples.frequency_ghz is not None and np.ptp(samples.frequency_ghz) > 0:
        columns["1/f"] = 1 / samples.frequency_ghz
        columns["f^3"] = samples.frequency_ghz**3
    for name in _quantities(samples) if factors is None else factors:
        if name not in samples.labels:
            raise NoSuchColumnError(f"no label is named {name!r}; there are {', '.join(samples.labels) or 'none'}")
        columns |= _of_label(name, samples.labels[name])
    if not columns:
        raise NoSuchColumnError("nothing to learn from: no counter, frequency or quantity varies between the samples")
    return Features(names=tuple(columns), matrix=np.column_stack(list(columns.values())), counters=tuple(samples.rates))


def _quantities(samples: Samples) -> list[str]:
    chosen = (name for name in samples.labels if name.lower() not in PLACES and not NUMBERED.fullmatch(name.lower()))
    return [name for name in chosen if _numbers(samples.labels[name]) is not None]


def log_rate(rates: Array) -> Array:
    """Log of a rate, finite also where it is 0."""
    positive = rates[rates > 0]
    if not len(positive):
        return rates
    floor = 0.0 if len(positive) == len(rates) else positive.min() / 2
    logs: Array = np.log(np.maximum(rates, 0) + floor)
    return logs


def _of_label(name: str, words: Sequence[str]) -> Mapping[str, Array]:
    different = list(dict.fromkeys(words))
    if len(different) < 2:
        return {}
    numbers = _numbers(words)
    if numbers is not None:
        wide = numbers.min() > 0 and numbers.max() / numbers.min() >= DECADE
        return {name: np.log(numbers) if wide else numbers}
    if len(different) > MOST_WORDS:
        return {}
    return {f"{name}={word}": np.array([float(one == word) for one in words]) for word in different}


def _numbers(words: Sequence[str]) -> Array | None:
    try:
        found = np.array([float(word) for word in words])
    except ValueError:
        return None
    return found if np.all(np.isfinite(found)) else None
