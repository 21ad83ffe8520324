"""How much each member counts, learnt where it matters: on configurations left out as the asked ones are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array, Indices
from analysis.prediction.members import Lengths, Measured, Members
from analysis.prediction.quantiles import MEDIAN, rough_ks

FOLDS = 8
# So many left-out configurations tell the weights; folds are gone through until they are there.
TOLD_BY = 300
# Leaving levels out: at most so many levels, measured and left-out configurations.
LEFT_LEVELS, LEVEL_ROWS, LEVEL_TOLD_BY = 3, 1500, 150
ROUNDS = 20
BAND = 0.8


@dataclass(frozen=True, kw_only=True)
class Weights:
    """The members' weights, and by how many standard deviations each quantile was off in four of five cases."""

    members: Array
    reach: Array


def deviation(by_member: Array, process: Array) -> Array:
    """How sure the median is, up to a factor, shape (rows,): what the process says, and how members differ."""
    return np.asarray(np.hypot(process, np.std(by_member[:, :, MEDIAN], axis=0)))


def random_folds(size: int, rng: np.random.Generator) -> Iterator[tuple[Indices, Indices]]:
    """Kept and left-out rows, until enough rows were left out once."""
    order, told = rng.permutation(size), 0
    for left in np.array_split(order, min(FOLDS, size)):
        if told >= TOLD_BY:
            return
        yield np.setdiff1d(order, left), left
        told += len(left)


def level_folds(measured: Measured, at: int, rng: np.random.Generator) -> Iterator[tuple[Indices, Indices]]:
    """Kept and left-out rows where a level of one factor is left out: an inner one of a number, any of the names."""
    factor, codes = measured.factors.varying[at], measured.codes[:, at]
    present = np.unique(codes)
    inner = present[1:-1] if factor.is_number else present
    if len(present) < 3 or not len(inner):
        return
    for level in inner[np.unique(np.linspace(0, len(inner) - 1, min(LEFT_LEVELS, len(inner))).astype(int))]:
        kept = rng.permutation(np.flatnonzero(codes != level))[:LEVEL_ROWS]
        yield kept, rng.permutation(np.flatnonzero(codes == level))[:LEVEL_TOLD_BY]


def learnt(
    measured: Measured,
    lengths: Lengths,
    folds: Iterator[tuple[Indices, Indices]],
    *,
    by_level: bool = False,
    trees: int,
    seed: int,
    processes: int,
) -> Weights | None:
    """Weights from left-out configurations, a level in each fold or not; None when nothing could be left out."""
    parts = [
        _left_out(
            Members.fit(measured.part(kept), lengths, trees=trees, seed=seed, processes=processes), measured, left
        )
        for kept, left in folds
    ]
    if not parts:
        return None
    members = _greedy(parts)
    reach = _reach(parts, [members] * len(parts)) if not by_level else _reach_at_levels(parts, members)
    return Weights(members=members, reach=reach)


@dataclass(frozen=True, kw_only=True)
class _LeftOut:
    """Configurations left out together: quantiles by each member, doubt about the median, measured quantiles."""

    by_member: Array
    deviation: Array
    truth: Array


def _left_out(members: Members, measured: Measured, left: Indices) -> _LeftOut:
    by_member, process = members.predict(measured.codes[left])
    return _LeftOut(by_member=by_member, deviation=deviation(by_member, process), truth=measured.quantiles[left])


def _reach(parts: Sequence[_LeftOut], weights: Sequence[Array]) -> Array:
    off = [
        np.abs(np.tensordot(weight, part.by_member, axes=1) - part.truth) / part.deviation[:, None]
        for part, weight in zip(parts, weights, strict=True)
    ]
    every = np.concatenate(off)
    return np.asarray(np.quantile(every, min(1.0, BAND * (1 + 1 / len(every))), axis=0))


def _reach_at_levels(parts: Sequence[_LeftOut], members: Array) -> Array:
    """Errors at one level go together: each level's are of weights from the others, and another level is one draw more.

    Of `n` levels that are known the next one is sqrt(1 + 1/n) times as far from their mean as they are from theirs.
    """
    if len(parts) == 1:
        return np.asarray(np.sqrt(2) * _reach(parts, [members]))
    others = [_greedy([*parts[:at], *parts[at + 1 :]]) for at in range(len(parts))]
    return np.asarray(np.sqrt(1 + 1 / len(parts)) * _reach(parts, others))


def _greedy(parts: Sequence[_LeftOut]) -> Array:
    """Weights of members, one added at a time: whichever lowers the mean distance most (Caruana et al. 2004)."""
    by_member = np.concatenate([part.by_member for part in parts], axis=1)
    truth = np.concatenate([part.truth for part in parts])
    counts = np.zeros(len(by_member))
    total = np.zeros(truth.shape)
    for already in range(ROUNDS):
        losses = [_loss((total + one) / (already + 1), truth) for one in by_member]
        best = int(np.argmin(losses))
        counts[best] += 1
        total += by_member[best]
    return counts / ROUNDS


def _loss(predicted: Array, truth: Array) -> float:
    return float(np.mean([rough_ks(one, other) for one, other in zip(predicted, truth, strict=True)]))
