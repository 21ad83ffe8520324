"""Has a rank become critical again and again? Looked at after every few rounds, and told once."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array, Flags

WINDOWS = (20, 40, 80, 160, 320)
"""The last so many rounds of a rank; the longest is all that is looked at."""
FEWEST = 40
"""Before a rank took part in so many, how labels go together is not known, and nobody is named."""
FEWEST_SHARE = 0.5
"""Of the rounds of a window, for a rank to be named."""
LEVEL = 1e-8
"""The chance of as much in one window, for a rank to be named: many windows of many ranks are looked at many times."""
LAGS = 40
"""So many rounds apart, labels of a rank may still go together."""
RELEASE_ROUNDS = 40
RELEASE_SHARE, RELEASE_CHANCE = 0.3, 1.2
"""A rank that was named is so no more when its share of the last rounds is below this, or this many times chance."""


@dataclass(frozen=True, kw_only=True)
class Persistence:
    """A rank that is critical again and again."""

    rank: int
    first: int
    """The round (row) since when."""
    rounds: int
    """That it took part in since then."""
    critical: int
    chance: float
    """The share of these to be expected, were each round's critical ranks drawn anew."""


def persistent(critical: Flags, took_part: Flags, named: Collection[int] = ()) -> list[Persistence]:
    """Ranks to be named after (K, R) rounds in order of time; `named` were so before, and are for longer.

    A window names a rank that was critical in half of its rounds or more, and more often than draws anew explain.
    Labels of other ranks tell how long it lasts when criticality moves: slow states of a few rounds are no news.
    """
    skipped = max(0, len(critical) - 2 * WINDOWS[-1])
    critical, took_part = critical[skipped:], took_part[skipped:]
    drawn = np.sum(critical, axis=1) / np.maximum(np.sum(took_part, axis=1), 1)
    found = []
    for rank in range(critical.shape[1]):
        rows = np.flatnonzero(took_part[:, rank])[-WINDOWS[-1] :]
        labels, chance = critical[rows, rank].astype(np.float64), drawn[rows]
        inflation = _inflation(_beside(critical, took_part, rank) or [_without_step(labels)])
        window = _window(labels, chance, inflation)
        lasts = _lasts(labels, chance)
        if window is None and rank in named and lasts:
            window = min(RELEASE_ROUNDS, len(labels))
        if window is not None and window > RELEASE_ROUNDS and not lasts:
            window = None  # that was so, and is over
        if window is not None:
            first = _onset(labels, (np.mean(labels[-window:]) + np.mean(chance[-window:])) / 2, window)
            found.append(
                Persistence(
                    rank=rank,
                    first=int(rows[first]) + skipped,
                    rounds=len(rows) - first,
                    critical=int(np.sum(labels[first:])),
                    chance=float(np.mean(chance[first:])),
                )
            )
    return found


def _window(labels: Array, chance: Array, inflation: float) -> int | None:
    """The shortest of the last rounds that names the rank.

    As many draws as there would be if labels came in clumps of `inflation`: the tail of the binomial distribution,
    by the incomplete beta function.
    """
    from scipy import special  # as in `scores`

    for size in WINDOWS:
        if max(size, FEWEST) > len(labels):
            return None
        share, drawn = float(np.mean(labels[-size:])), float(np.mean(chance[-size:]))
        draws = size / inflation
        hits = share * draws
        if share >= FEWEST_SHARE and special.betainc(hits, draws - hits + 1, drawn) < LEVEL:
            return size
    return None


def _lasts(labels: Array, chance: Array) -> bool:
    lately, drawn = labels[-RELEASE_ROUNDS:], chance[-RELEASE_ROUNDS:]
    return len(lately) > 0 and float(np.mean(lately)) >= max(RELEASE_SHARE, RELEASE_CHANCE * float(np.mean(drawn)))


def _onset(labels: Array, between: float, window: int) -> int:
    """Since when the rank was critical more often than half-way between then and chance: where that sums up to most."""
    sums = np.cumsum((labels - between)[::-1])[::-1]
    return int(np.argmax(sums[: len(labels) - window + 1 + window // 2]))


def _beside(critical: Flags, took_part: Flags, rank: int) -> list[Array]:
    """Of all other ranks, their labels less the share of them that was critical in the round: what they do among
    themselves, whatever this rank does. Empty where there is only one.
    """
    others = np.arange(critical.shape[1]) != rank
    labels, there = critical[:, others], took_part[:, others]
    expected = np.sum(labels, axis=1) / np.maximum(np.sum(there, axis=1), 1)
    return [labels[mine, place] - expected[mine] for place, mine in enumerate(there.T)] if np.sum(others) > 1 else []


def _without_step(labels: Array) -> Array:
    """Less the mean before and after the place where these differ most."""
    sums = np.abs(np.cumsum(labels - np.mean(labels))) if len(labels) else labels
    step = int(np.argmax(sums)) + 1 if len(labels) else 0
    before, after = labels[:step], labels[step:]
    return np.concatenate([part - np.mean(part) for part in (before, after) if len(part)] or [labels])


def _inflation(series: list[Array]) -> float:
    """How much larger the variance of a sum is, because labels of a rank come in clumps: 1 + 2 x the correlations of
    labels 1, 2, ... rounds apart, up to the first that is not positive.
    """
    alone = sum(float(np.sum(one**2)) for one in series)
    inflation = 1.0
    for lag in range(1, LAGS + 1):
        together = sum(float(np.sum(one[lag:] * one[:-lag])) for one in series)
        if together <= 0 or alone <= 0:
            break
        inflation += 2 * together / alone
    return inflation
