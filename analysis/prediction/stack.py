"""How much each member counts, learnt where it matters: on configurations left out as the asked ones are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array, Indices
from analysis.prediction.members import Lengths, Measured, Members
from analysis.prediction.quantiles import LEVELS, MEDIAN, rough_ks

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

    def deviation(self, by_member: Array, process: Array) -> Array:
        """How sure the median is, up to a factor, shape (rows,): what the process says, and how members differ."""
        apart = np.std(by_member[:, :, MEDIAN], axis=0)
        return np.asarray(np.hypot(process, apart))


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
    trees: int,
    seed: int,
    processes: int,
) -> Weights | None:
    """Weights from left-out configurations; None when nothing could be left out."""
    predicted, deviations, truths = [], [], []
    for kept, left in folds:
        members = Members.fit(measured.part(kept), lengths, trees=trees, seed=seed, processes=processes)
        found, deviation = members.predict(measured.codes[left])
        predicted.append(found)
        deviations.append(deviation)
        truths.append(measured.quantiles[left])
    if not predicted:
        return None
    by_member, truth = np.concatenate(predicted, axis=1), np.concatenate(truths)
    counts = _greedy(by_member, truth)
    bare = Weights(members=counts / np.sum(counts), reach=np.ones(len(LEVELS)))
    off = np.abs(np.tensordot(bare.members, by_member, axes=1) - truth)
    share = min(1.0, BAND * (1 + 1 / len(truth)))
    reach = np.quantile(off / bare.deviation(by_member, np.concatenate(deviations))[:, None], share, axis=0)
    return Weights(members=bare.members, reach=np.asarray(reach))


def _greedy(by_member: Array, truth: Array) -> Array:
    """Counts of members, one added at a time: whichever lowers the mean distance most (Caruana et al. 2004)."""
    counts = np.zeros(len(by_member))
    total = np.zeros(truth.shape)
    for already in range(ROUNDS):
        losses = [_loss((total + one) / (already + 1), truth) for one in by_member]
        best = int(np.argmin(losses))
        counts[best] += 1
        total += by_member[best]
    return counts


def _loss(predicted: Array, truth: Array) -> float:
    return float(np.mean([rough_ks(one, other) for one, other in zip(predicted, truth, strict=True)]))
