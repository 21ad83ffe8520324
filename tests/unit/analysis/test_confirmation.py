"""Whether a flag comes back is judged by new runs alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis import confirmation, mixture
from analysis.confirmation import Confirmation
from analysis.confirmation.confirm import agree
from analysis.mixture.selection import select_from

OPTIONS = mixture.Options(families=("normal", "lognormal"), max_components=2)


def sample(seed: int, *, slow: float = 0.4, at: float = 1000.0, n: int = 120) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.where(rng.random(n) < slow, rng.normal(at, 40, n), rng.normal(1200, 40, n))


def judged(first: np.ndarray, again: np.ndarray) -> Confirmation:
    one, other = (mixture.select(values, options=OPTIONS) for values in (first, again))
    rng = np.random.default_rng(1)
    return confirmation.confirm(
        one, other, dip_q=other.dip_p, samples=(first, again), options=OPTIONS, rng=rng, unit="kB/s"
    )


def test_the_same_modes_confirm_a_flag_and_both_samples_are_pooled() -> None:
    found = judged(sample(1), sample(2))
    assert found.outcome == "confirmed"
    assert found.pooled is not None
    assert (found.pooled.n, found.pooled.components) == (240, 2)
    assert "several modes again in 120 new runs" in found.sentence


def test_modes_elsewhere_are_a_change() -> None:
    found = judged(sample(1), sample(2, at=900.0))
    assert found.outcome == "changed"
    assert found.pooled is None


def test_a_flag_that_enough_runs_do_not_show_again_is_retracted() -> None:
    found = judged(sample(1), sample(2, slow=0.0))
    assert found.outcome == "retracted"
    assert found.power is not None
    assert found.power >= 0.8


def test_a_flag_that_too_few_runs_would_show_stays_undecided() -> None:
    found = judged(sample(1, slow=0.2, n=300), sample(2, slow=0.0, n=40))
    assert found.outcome == "undecided"
    assert found.power is not None
    assert found.power < 0.8
    assert judged(sample(1), sample(2, n=20)).sentence == "20 new runs are too few to judge: 30 are needed"


def test_no_more_is_drawn_than_decides() -> None:
    first = mixture.select(sample(1), options=OPTIONS)
    far, none = np.random.default_rng(1), np.random.default_rng(1)
    assert confirmation.power(first, 120, options=OPTIONS, rng=far) == 1.0
    blind = replace(OPTIONS, bic_gap=1e9, bic_gap_alone=1e9)
    assert confirmation.power(first, 120, options=blind, rng=none) == 0.0
    drawn = np.random.default_rng(1)
    for _ in range(9):  # 32 of 40 are out of reach
        first.best.sample(120, drawn)
    assert none.bit_generator.state == drawn.bit_generator.state
    for _ in range(23):  # 32 of 40 are found
        first.best.sample(120, drawn)
    assert far.bit_generator.state == drawn.bit_generator.state


def test_draws_that_are_followed_are_judged_as_those_that_are_searched() -> None:
    first = mixture.select(sample(1), options=OPTIONS)
    for seed in range(5):
        drawn = first.best.sample(120, np.random.default_rng(seed))
        short, full = select_from(drawn, first.table, options=OPTIONS), mixture.select(drawn, options=OPTIONS)
        assert (short.family, short.components, short.dip_p) == (full.family, full.components, full.dip_p)
        assert short.bic_gap == pytest.approx(full.bic_gap, abs=1e-3)


def test_far_modes_need_fewer_runs_than_near_ones() -> None:
    rng = np.random.default_rng(1)
    far, near = (
        confirmation.runs_for_power(
            mixture.select(sample(1, at=at, n=900), options=OPTIONS), options=OPTIONS, rng=rng, draws=15
        )
        for at in (900.0, 1030.0)
    )
    assert far is not None
    assert near is None or far < near


def test_draws_from_a_wide_normal_component_stay_where_the_other_family_can_lie() -> None:
    rng = np.random.default_rng(3)
    first, again = (
        np.abs(np.where(rng.random(120) < 0.5, rng.normal(1000, 40, 120), rng.normal(3000, 1200, 120))) + 1
        for _ in range(2)
    )
    one = mixture.select(first, options=mixture.Options(families=("normal",), max_components=2))
    other = mixture.select(again, options=mixture.Options(families=("lognormal",), max_components=2))
    assert one.best.sample(10_000, rng).min() < 0
    assert agree(one, other, options=OPTIONS, rng=rng) in {True, False}
