"""Which circumstances predict the density mode of a run: permutation tests with false-discovery control."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.stats import false_discovery_control

from analysis.arrays import Array, Indices
from analysis.attribution.candidates import PLACE_IN_JOB, SESSION, Candidate
from analysis.attribution.shuffles import shuffles

SHUFFLES = 999
LARGEST_Q = 0.05
# A share of the variance of mode membership; a smaller effect is not worth a sentence.
SMALLEST_EFFECT = 0.1
# Runs on either side of a split: fewer make a chance cluster look like an effect.
FEWEST, FEWEST_SHARE = 5, 0.05
# Numbers held at a time: 999 shuffles of 10,000 runs would be gigabytes.
AT_ONCE = 4_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Ground:
    """What a test stands on: weights of the density modes, (n, modes), and the runs that keep together, (n,).

    `node` and `job` number the places of the runs, (n,); None where they are not known.
    """

    weights: Array
    blocks: Indices
    node: Indices | None = None
    job: Indices | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Tested:
    """A candidate, and whether it predicts the density mode. `split` is the number of its best split.

    `effect`: the share of the variance of mode membership that it explains, beyond what shuffled runs show.
    `given`: what was held constant when it was asked for last.
    """

    candidate: Candidate
    p: float
    effect: float
    q: float = 1.0
    split: float | None = None
    named: bool = False
    given: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Of the candidate."""
        return self.candidate.name

    @property
    def counts(self) -> bool:
        """Whether its effect is certain and large enough to be told."""
        return self.q <= LARGEST_Q and self.effect >= SMALLEST_EFFECT

    def judged(self, q: float) -> Self:
        """With its Benjamini-Hochberg value."""
        return replace(self, q=q)


def tested(ground: Ground, found: Sequence[Candidate], rng: np.random.Generator) -> list[Tested]:
    """Every candidate with p, q and effect; those that explain something by themselves are `named`.

    The strongest is named first; each of the others only if it still explains something where all that is named is
    held constant. Benjamini-Hochberg over the candidates, at each step over those that are left.
    """
    results = _judged([_test(ground, one, None, rng) for one in found])
    named: list[Tested] = []
    left = [result for result in results if result.counts]
    while left:
        best = max(left, key=lambda one: one.effect)
        named.append(replace(best, named=True))
        held = _together([one.candidate.parts() for one in named])
        if np.max(held) + 1 > len(ground.weights) / 4:
            break
        given = tuple(one.name for one in named)
        others = [one for one in left if one is not best and not _contains(best, one)]
        again = _judged([_test(ground, one.candidate, held, rng) for one in others])
        left = [replace(one, given=given) for one in again if one.counts]
    # What is reported of each is how it did by itself.
    given_to = {one.name: one.given for one in named}
    return [replace(one, named=True, given=given_to[one.name]) if one.name in given_to else one for one in results]


def _contains(one: Tested, other: Tested) -> bool:
    """Are the groups of the other unions of the groups of this one?"""
    inner, outer = one.candidate.groups, other.candidate.groups
    return inner is not None and outer is not None and len(set(zip(inner, outer, strict=True))) == len(set(inner))


def _judged(results: Sequence[Tested]) -> list[Tested]:
    if not results:
        return []
    q = false_discovery_control([result.p for result in results])
    return [result.judged(float(value)) for result, value in zip(results, q, strict=True)]


def _test(ground: Ground, candidate: Candidate, held: Indices | None, rng: np.random.Generator) -> Tested:
    """One candidate, with the groups `held` (n,) kept apart."""
    blocks, strata = _scheme(ground, candidate, held)
    weights = _centred(ground.weights, strata)
    observed = _explained(weights[None], candidate)[0]
    at_once = max(1, AT_ONCE // weights.size)
    drawn = np.concatenate(
        [
            _explained(weights[shuffles(blocks, min(at_once, SHUFFLES - done), rng, strata=strata)], candidate)
            for done in range(0, SHUFFLES, at_once)
        ]
    )
    by_chance = float(np.mean(drawn))
    return Tested(
        candidate=candidate,
        p=float(1 + np.sum(drawn >= observed - 1e-12)) / (1 + SHUFFLES),
        effect=max(0.0, float(observed - by_chance) / max(1 - by_chance, 1e-12)),
        split=None if candidate.groups is not None else best_split(weights, candidate.number),
    )


def _scheme(ground: Ground, candidate: Candidate, held: Indices | None) -> tuple[Indices, Indices]:
    """Which runs change places as blocks, and within which strata."""
    outer = np.zeros(len(ground.weights), dtype=np.int64) if held is None else held
    blocks = ground.blocks
    if candidate.name == SESSION and ground.node is not None:
        outer = _together([outer, ground.node])
    if candidate.name == PLACE_IN_JOB and ground.job is not None:
        # Every job has the same places: only runs of a job can change theirs.
        return np.arange(len(blocks)), _together([outer, ground.job])
    return _together([blocks, outer]), outer


def _together(columns: Sequence[Indices]) -> Indices:
    """One number for each combination that occurs, (n,)."""
    return np.unique(np.stack(columns), axis=1, return_inverse=True)[1].astype(np.int64).ravel()


def _centred(weights: Array, strata: Indices) -> Array:
    """Without the means of the strata."""
    size = np.bincount(strata)
    means = np.stack([np.bincount(strata, column) / np.maximum(size, 1) for column in weights.T], axis=1)
    return weights - means[strata]


def _explained(weights: Array, candidate: Candidate) -> Array:
    """Share of the variance of centred weights (b, n, modes) that the candidate explains, (b,)."""
    total = np.maximum(np.sum(weights**2, axis=(1, 2)), 1e-12)
    if candidate.groups is not None:
        size = np.bincount(candidate.groups)
        member = (candidate.groups[:, None] == np.arange(len(size))).astype(np.float64)
        sums = weights.transpose(0, 2, 1) @ member
        return np.asarray(np.sum(sums**2 / size, axis=(1, 2)) / total)
    between, _ = _by_split(weights, candidate.number)
    return np.asarray(np.max(between, axis=1, initial=0.0) / total)


def best_split(weights: Array, number: Array) -> float | None:
    """The number between two groups of runs whose centred weights (n, modes) differ most; None: all are alike."""
    between, middles = _by_split(weights[None], number)
    return float(middles[int(np.argmax(between[0]))]) if len(middles) else None


def _by_split(weights: Array, number: Array) -> tuple[Array, Array]:
    """Sum of squares between the two sides of every split that leaves enough on both, (b, splits); the splits."""
    order = np.argsort(number, kind="stable")
    n, placed = len(number), number[order]
    left = np.arange(1, n)
    least = max(FEWEST, int(np.ceil(FEWEST_SHARE * n)))
    allowed = np.flatnonzero((np.diff(placed) > 0) & (left >= least) & (n - left >= least))
    sums = np.cumsum(weights[:, order], axis=1)[:, allowed]
    left = left[allowed]
    between = np.sum(sums**2, axis=2) * (n / (left * (n - left)))
    return between, (placed[allowed] + placed[allowed + 1]) / 2
