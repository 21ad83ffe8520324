"""A rank that becomes critical again and again is named soon; where criticality only moves, hardly ever anybody is."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.arrays import Flags
from analysis.criticality import Rule, Trace, critical, persistent

SHARE, PERSISTENCE = 0.15, 0.7
"""Of slow states, as in the generated traces of docs/criticality.md."""


def labels(rng: np.random.Generator, *, rounds: int, ranks: int, moves: bool, slow_from: int | None = None) -> Flags:
    """Rounds of 1 s; rank 1 is slow in 80 % of those from `slow_from` on."""
    slow = np.zeros((rounds, ranks), dtype=bool)
    into = SHARE * (1 - PERSISTENCE) / (1 - SHARE)
    for k in range(rounds if moves else 0):
        stays = slow[k - 1] if k else rng.random(ranks) < SHARE
        slow[k] = rng.random(ranks) < np.where(stays, PERSISTENCE, into)
    if slow_from is not None:
        slow[slow_from:, 1] |= rng.random(rounds - slow_from) < 0.8
    noise = 0.01 * rng.normal(size=slow.shape) + 0.02 * np.abs(rng.normal(size=slow.shape))
    trace = Trace(
        settings=("",),
        collectives=tuple(map(str, range(rounds))),
        ranks=tuple(map(str, range(ranks))),
        setting_of=np.zeros(rounds, dtype=np.int64),
        arrival_s=1 + noise + slow * 0.25 * np.exp(0.4 * rng.normal(size=slow.shape)),
        starts_together=True,
    )
    return critical(trace, Rule())


def first_told(found: Flags, *, from_round: int = 0) -> tuple[int, int] | None:
    """After how many rounds somebody was named first, looking after every tenth; and who."""
    everybody = np.ones_like(found)
    for end in range(max(from_round, 20), len(found) + 1, 10):
        told = persistent(found[:end], everybody[:end])
        if told:
            return end, told[0].rank
    return None


@pytest.mark.parametrize(("ranks", "within"), [(3, 100), (12, 60)])
def test_a_rank_that_becomes_slow_is_named_with_when_it_began(ranks: int, within: int) -> None:
    found = labels(np.random.default_rng(3), rounds=300, ranks=ranks, moves=False, slow_from=150)
    told = first_told(found)
    assert told is not None
    end, rank = told
    assert (rank, 150 < end <= 150 + within) == (1, True)
    (one,) = persistent(found, np.ones_like(found))
    assert abs(one.first - 150) <= 5
    assert one.rounds == 300 - one.first
    assert 0.7 < one.critical / one.rounds < 0.95
    assert one.chance < 0.5


def test_where_criticality_moves_nobody_is_named() -> None:
    rng = np.random.default_rng(5)
    assert [first_told(labels(rng, rounds=400, ranks=6, moves=True)) for _ in range(5)] == [None] * 5


def test_one_among_others_that_move_is_named_later() -> None:
    found = labels(np.random.default_rng(7), rounds=400, ranks=12, moves=True, slow_from=150)
    told = first_told(found)
    assert told is not None
    assert (told[1], told[0] > 150) == (1, True)


def test_who_was_named_stays_so_until_its_share_has_really_fallen() -> None:
    rng = np.random.default_rng(9)
    found = labels(rng, rounds=300, ranks=4, moves=False, slow_from=100)
    found[200:, 1] = rng.random(100) < 0.4  # less than what names a rank, more than what releases one
    everybody = np.ones_like(found)
    assert [one.rank for one in persistent(found, everybody, named=[1])] == [1]
    found[250:, 1] = False
    assert persistent(found, everybody, named=[1]) == []


def test_a_rank_that_took_no_part_is_not_named() -> None:
    found = labels(np.random.default_rng(1), rounds=100, ranks=3, moves=False, slow_from=10)
    took_part = np.ones_like(found)
    took_part[:, 2] = False
    assert [one.rank for one in persistent(found & took_part, took_part)] == [1]


def test_rounds_further_back_than_the_longest_window_do_not_shift_when_it_began() -> None:
    found = labels(np.random.default_rng(2), rounds=1000, ranks=4, moves=False, slow_from=800)
    (one,) = persistent(found, np.ones_like(found))
    assert abs(one.first - 800) <= 5
