"""What is learnt from, and what it is judged by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from analysis.arrays import Flags, Indices

Split = Literal["collective", "setting", "time", "sample"]
SPLITS: tuple[Split, ...] = ("collective", "setting", "time", "sample")


def groups(split: Split, collective: Indices, setting: Indices) -> Indices:
    """What stays together: samples of one collective on both sides of a split would flatter."""
    if split == "sample":
        return np.arange(len(collective))
    return setting if split == "setting" else collective


def learnt(split: Split, share: float, collective: Indices, setting: Indices, rng: np.random.Generator) -> Flags:
    """(n,) the samples learnt from: a share of the groups, without replacement; by time, the first of each setting."""
    if split == "time":
        return _first(share, collective, setting)
    group = groups(split, collective, setting)
    found = rng.permutation(np.unique(group))
    chosen: Flags = np.isin(group, found[: round(share * len(found))])
    return chosen


def _first(share: float, collective: Indices, setting: Indices) -> Flags:
    chosen = np.zeros(len(collective), dtype=bool)
    for number in np.unique(setting):
        rows = setting == number
        found = np.unique(collective[rows])
        chosen |= rows & np.isin(collective, found[: round(share * len(found))])
    return chosen


def folds(split: Split, count: int, collective: Indices, setting: Indices, rng: np.random.Generator) -> Iterator[Flags]:
    """(n,) the samples held back, for each of up to `count` folds; in a split by time, blocks that follow on."""
    group = groups(split, collective, setting)
    found = np.unique(group)
    if split != "time":
        found = rng.permutation(found)
    for part in np.array_split(found, min(count, len(found))):
        yield np.isin(group, part)


def fewer(rows: Indices, most: int, rng: np.random.Generator) -> Indices:
    """At most so many of the rows, in order."""
    if len(rows) <= most:
        return rows
    chosen: Indices = np.sort(rng.choice(rows, most, replace=False))
    return chosen


def by_collective(collective: Indices) -> list[Indices]:
    """The rows of each collective, in the order of collectives."""
    order = np.argsort(collective, kind="stable")
    borders = np.flatnonzero(np.diff(collective[order])) + 1
    return np.split(order, borders)
