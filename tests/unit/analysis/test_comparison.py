"""Two samples side by side: shifts of quantiles by the exact bootstrap, distances, false discoveries."""

import numpy as np
import pytest
from scipy import stats

from analysis.comparison import compare, false_discovery
from analysis.errors import BadOptionsError, BadSampleError


def rng(seed=1):
    return np.random.default_rng(seed)


def test_the_exact_interval_is_that_of_many_resamples():
    a, b = np.sort(rng(1).lognormal(3, 0.4, 99)), np.sort(rng(2).lognormal(3.1, 0.4, 99))
    draws = [np.median(rng(3).choice(b, (20_000, 99)), axis=1) - np.median(rng(4).choice(a, (20_000, 99)), axis=1)]
    low, high = np.quantile(draws, (0.025, 0.975))
    shift = compare(a, b, quantiles=(0.5,)).shifts[0]
    assert (shift.low, shift.high) == pytest.approx((low, high), abs=0.15 * (high - low))


def test_a_shift_is_b_less_a_and_turns_its_sign_with_the_sides():
    a, b = rng(1).normal(100, 5, 60), rng(2).normal(90, 5, 60)
    there, back = (compare(*sides, quantiles=(0.5,)).shifts[0] for sides in ((a, b), (b, a)))
    assert there.difference == pytest.approx(np.median(b) - np.median(a))
    assert there.difference == -back.difference
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low), abs=0.5)
    assert there.low < there.difference < there.high < 0


@pytest.mark.parametrize(
    "draw",
    [
        lambda random: random.normal(100, 5, 40),
        lambda random: np.where(random.random(40) < 0.3, random.normal(80, 2, 40), random.normal(100, 2, 40)),
        lambda random: np.round(random.normal(100, 2, 40)),
    ],
    ids=["normal", "bimodal", "rounded"],
)
def test_of_two_samples_of_one_distribution_at_most_one_in_twenty_seems_to_differ(draw):
    random = rng(7)
    pairs = [compare(draw(random), draw(random)) for _ in range(150)]
    for place in range(3):
        assert np.mean([one.shifts[place].p <= 0.05 for one in pairs]) <= 0.08
    assert np.mean([one.ks_p <= 0.05 for one in pairs]) <= 0.08


def test_distances_are_scipys_and_symmetric():
    a, b = rng(1).normal(0, 1, 50), rng(2).normal(1, 2, 80)
    there, back = compare(a, b), compare(b, a)
    assert there.wasserstein == pytest.approx(stats.wasserstein_distance(a, b)) == pytest.approx(back.wasserstein)
    assert there.ks == pytest.approx(stats.ks_2samp(a, b).statistic) == pytest.approx(back.ks)


def test_equal_samples_do_not_differ():
    values = rng().normal(5, 1, 30)
    same = compare(values, values)
    assert same.wasserstein == same.ks == 0
    assert all(shift.p > 0.9 for shift in same.shifts)


def test_samples_far_apart_have_the_smallest_p_that_is_told():
    found = compare(np.arange(50.0), np.arange(50.0) + 1000)
    assert all(shift.p == pytest.approx(1e-9) for shift in found.shifts)


def test_false_discoveries_are_judged_over_all_comparisons_and_each_quantile_apart():
    random = rng(3)
    pairs = [compare(random.normal(0, 1, 40), random.normal(3 * (k == 0), 1, 40)) for k in range(10)]
    found = false_discovery(pairs)
    assert [one.ks for one in found] == pytest.approx(stats.false_discovery_control([one.ks_p for one in pairs]))
    medians = stats.false_discovery_control([one.shifts[1].p for one in pairs])
    assert [one.shifts[1] for one in found] == pytest.approx(medians)
    assert [one.ks <= 0.05 for one in found] == [True] + 9 * [False]
    assert false_discovery([]) == []


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(BadSampleError, match="4 values are too few"):
        compare([1, 2, 3, 4], range(10))
    with pytest.raises(BadSampleError, match="finite"):
        compare([1, 2, 3, 4, float("nan")], range(10))
    with pytest.raises(BadOptionsError, match="between 0 and 1"):
        compare(range(10), range(10), quantiles=(1.0,))
