"""The parts of the service rate against slow independent references, closed forms, and one control that must fail."""

import math

import numpy as np
import pytest
from scipy import stats

from analysis.errors import BadOptionsError, BadSampleError
from analysis.service_rate import CountEstimator, Estimate, TimeEstimator, change_between, filters, period, phases
from analysis.service_rate.counts import unblocked_count
from analysis.service_rate.distributions import renewal_pmf
from analysis.service_rate.moments import Moments
from analysis.service_rate.probabilities import pr_read, pr_write
from analysis.service_rate.published import Method, Published
from analysis.service_rate.shape import shape
from analysis.service_rate.times import service_time


def rng(seed=1):
    return np.random.default_rng(seed)


def streamed(values):
    moments = Moments()
    for value in values:
        moments.add(float(value))
    return moments


def contaminated(mean, n, seed=1):
    """Poisson counts, a tenth of them cut short, one in a hundred tripled."""
    random = rng(seed)
    counts = random.poisson(mean, n).astype(float)
    kind = random.random(n)
    cut, tripled = kind < 0.1, kind > 0.99
    counts[cut] = np.floor(counts[cut] * random.random(np.sum(cut)))
    counts[tripled] *= 3
    return counts


def test_the_printed_gaussian_sums_to_less_than_one_and_the_normalised_one_to_one():
    assert sum(filters.gaussian(normalised=False)) == pytest.approx(0.99087, abs=1e-5)
    assert sum(filters.gaussian()) == pytest.approx(1)


def test_the_laplacian_is_the_printed_one_and_is_made_to_sum_to_zero():
    assert filters.laplacian(zero_sum=False) == pytest.approx((1.2958, -3.1915, 1.2958), abs=1e-4)
    assert sum(filters.laplacian()) == pytest.approx(0, abs=1e-12)


def test_streaming_moments_are_those_of_the_whole_sample():
    values = rng().gamma(2, 3, 1000)
    moments = streamed(values)
    assert moments.mean == pytest.approx(np.mean(values))
    assert moments.variance == pytest.approx(np.var(values, ddof=1))
    assert moments.skewness == pytest.approx(stats.skew(values))
    assert moments.kurtosis == pytest.approx(stats.kurtosis(values))


def test_moments_of_two_streams_merge_into_those_of_both():
    values = rng().exponential(size=500) + 1e6
    merged = streamed(values[:123]).merged(streamed(values[123:]))
    assert merged.variance == pytest.approx(np.var(values, ddof=1))
    assert merged.skewness == pytest.approx(stats.skew(values), rel=1e-6)
    assert merged.kurtosis == pytest.approx(stats.kurtosis(values), rel=1e-6)
    assert Moments().merged(merged) == merged


def test_a_constant_stream_has_no_skewness():
    assert streamed([2.0, 2.0, 2.0]).skewness is None
    assert streamed([2.0]).variance == 0


def slow_q(counts, window):
    """Mean of q over all full windows: every window filtered and summed up anew."""
    weights = [math.exp(-x * x / 2) for x in (-2, -1, 0, 1, 2)]
    found = []
    for end in range(window, len(counts) + 1):
        part = counts[end - window : end]
        smooth = [sum(w * part[i + j] for j, w in enumerate(weights)) / sum(weights) for i in range(len(part) - 4)]
        found.append(np.mean(smooth) + 1.64485 * np.std(smooth, ddof=1))
    return found


@pytest.mark.parametrize("mean", [3, 1e9])
def test_q_of_a_moving_window_is_that_of_every_window_made_anew(mean):
    counts = rng().poisson(mean, 300).astype(float)
    published = Published(Method(window=20, tolerance=1e-300))
    for count in counts:
        published.add(count)
    assert published.q_mean == pytest.approx(np.mean(slow_q(counts, 20)), rel=1e-9)


def test_it_settles_where_the_filtered_standard_error_stays_within_the_tolerance():
    counts, tolerance = contaminated(50, 2000), 5e-7
    q = slow_q(counts, 64)
    errors = [np.std(q[:n], ddof=1) / np.sqrt(n) if n > 1 else 0.0 for n in range(1, len(q) + 1)]
    kernel = np.array(filters.laplacian())
    curved = [float(kernel @ errors[i : i + 3]) for i in range(len(errors) - 2)]
    settled = next(i + 16 for i in range(len(curved)) if np.ptp(curved[i : i + 16]) <= tolerance * np.mean(q[: i + 18]))
    published = Published(Method())
    first = next(i for i, count in enumerate(counts) if published.add(count))
    assert first == 64 + settled + 2 - 2


def test_an_absolute_tolerance_may_never_be_met_where_the_relative_one_is():
    counts = contaminated(1e6, 1500)
    relative, printed = Published(Method()), Published(Method(relative=False, zero_sum=False, normalised=False))
    assert any(map(relative.add, counts))
    assert not any(map(printed.add, counts))


def test_a_method_without_a_window_is_refused():
    with pytest.raises(BadOptionsError, match="at least 6 counts"):
        Method(window=5)
    with pytest.raises(BadOptionsError, match="above 0"):
        Method(tolerance=0)


def test_a_renewal_process_of_exponential_services_counts_like_poisson():
    assert renewal_pmf(4.0, 1.0, 20) == pytest.approx(stats.poisson.pmf(np.arange(21), 4.0), abs=1e-12)


def test_a_deterministic_server_counts_one_of_two_integers():
    pmf = renewal_pmf(4.3, 1e6, 8)
    assert pmf[4] == pytest.approx(0.7, abs=1e-3)
    assert pmf[5] == pytest.approx(0.3, abs=1e-3)


@pytest.mark.parametrize("form", [0.5, 3.0, 40.0])
def test_every_renewal_process_keeps_its_mean(form):
    pmf = renewal_pmf(6.2, form, 200)
    assert np.sum(pmf) == pytest.approx(1)
    assert pmf @ np.arange(201) == pytest.approx(6.2)


def test_renewal_counts_are_those_of_a_simulated_server():
    ends = np.cumsum(rng().gamma(3.0, 1 / 3.0, 400_000))
    counted = np.histogram(ends, np.arange(100, 390_000, 2.5))[0]
    seen = np.bincount(counted, minlength=12)[:12] / len(counted)
    assert renewal_pmf(2.5, 3.0, 11) == pytest.approx(seen, abs=0.004)


@pytest.mark.parametrize("mean", [5, 20, 100, 1000])
def test_partial_firings_and_outliers_do_not_move_the_rate(mean):
    found = [unblocked_count(contaminated(mean, 500, seed)) for seed in range(5)]
    assert np.median([one.mean for one in found]) == pytest.approx(mean, rel=0.02)
    assert sum(one.low <= mean <= one.high for one in found) >= 3


def test_the_plain_mean_is_moved_by_them():
    """Negative control: without the mixture the same sample is outside of these bounds."""
    means = [np.mean(contaminated(1000, 2000, seed)) for seed in range(5)]
    assert np.median(means) != pytest.approx(1000, rel=0.02)


def test_a_sample_that_cannot_be_judged_says_why():
    with pytest.raises(BadSampleError, match="15 unblocked periods are too few"):
        unblocked_count(np.full(15, 3.0))
    with pytest.raises(BadSampleError, match="no item was finished"):
        unblocked_count(np.zeros(20))
    with pytest.raises(BadSampleError, match="at least 0"):
        unblocked_count(np.full(20, -1.0))
    with pytest.raises(BadSampleError, match="above 0"):
        service_time(np.zeros(20))
    with pytest.raises(BadSampleError, match="too few"):
        service_time(np.ones(3))


def test_counts_that_never_vary_are_known_to_half_an_item():
    found = unblocked_count(np.full(100, 40.0))
    assert found.low <= 39.7
    assert found.high >= 40.3
    assert found.mean == pytest.approx(40, abs=0.5)


def test_an_interruption_is_no_service():
    times = np.append(rng().exponential(2.0, 400), [500.0, 900.0])
    found = service_time(times)
    assert found.left_out == 2
    assert found.low_s <= 2.0 <= found.high_s


def test_intervals_of_inter_completion_times_hold_the_truth_as_often_as_they_say():
    found = [service_time(rng(seed).exponential(2.0, 100)) for seed in range(200)]
    inside = sum(one.low_s <= 2.0 <= one.high_s for one in found)
    assert 180 <= inside <= 198


def test_a_split_is_where_the_level_changed_and_a_constant_level_has_none():
    steady = rng().normal(10, 0.5, 60)
    assert phases.find_split(steady) is None
    changed = np.concatenate([steady, rng(2).normal(7, 0.5, 20)])
    assert abs(phases.find_split(changed) - 60) <= 1


def test_the_detector_forgets_the_earlier_phase():
    detector = phases.PhaseDetector()
    values = np.concatenate([rng().normal(10, 1, 640), rng(2).normal(6, 1, 640)])
    splits = [split for split in map(detector.add, values.tolist()) if split is not None]
    assert len(splits) == 1
    assert splits[0].level_before == pytest.approx(10, rel=0.1)
    assert splits[0].level_after == pytest.approx(6, rel=0.1)


@pytest.mark.parametrize(
    ("cv2", "n", "expected"),
    [
        (1.0, 400, "exponential"),
        (0.01, 400, "deterministic"),
        (0.4, 4000, "neither"),
        (0.5, 70, "neither"),
        (1, 9, "unknown"),
    ],
)
def test_service_is_judged_by_its_coefficient_of_variation(cv2, n, expected):
    assert shape(cv2, n) == expected


def test_probabilities_are_those_of_the_paper():
    assert pr_read(utilisation=0.5, service_rate=2.5, period_s=1) == pytest.approx(0.5**3)
    assert pr_write(utilisation=0.5, service_rate=2.5, period_s=1, capacity=8) == pytest.approx(1 - 0.5**6)
    assert pr_write(utilisation=0.5, service_rate=9, period_s=1, capacity=8) == 0
    assert pr_read(utilisation=0, service_rate=1, period_s=1) == 0


def test_probabilities_refuse_what_they_do_not_hold_for():
    with pytest.raises(BadOptionsError, match="utilisation"):
        pr_read(utilisation=1.5, service_rate=1, period_s=1)
    with pytest.raises(BadOptionsError, match="at least 1 item"):
        pr_write(utilisation=0.5, service_rate=1, period_s=1, capacity=0)
    with pytest.raises(BadOptionsError, match="above 0"):
        pr_read(utilisation=0.5, service_rate=0, period_s=1)


def server(rate, utilisation):
    def observe(period_s):
        passes = pr_read(utilisation=utilisation, service_rate=rate, period_s=period_s)
        return period.Trial(blocked_share=1 - passes, realised_s=period_s, items=rate * period_s)

    return observe


def test_the_period_is_the_longest_that_is_seldom_blocked():
    found = period.search(server(1e6, 0.99), resolution_s=1e-6, longest_s=1)
    assert found.period_s == pytest.approx(8e-6)
    # twice as long a period is blocked more often than one time in ten
    assert pr_read(utilisation=0.99, service_rate=1e6, period_s=8e-6) >= 0.9
    assert pr_read(utilisation=0.99, service_rate=1e6, period_s=16e-6) < 0.9


def test_a_server_that_is_mostly_starved_has_no_period():
    found = period.search(server(1e5, 0.3), resolution_s=1e-6, longest_s=1)
    assert found.period_s is None
    assert "blocked too often" in found.reason


def test_between_two_bases_a_change_is_told_where_their_intervals_are_apart():
    before = settled(
        CountEstimator(period_s=1.0), [{"count": float(c), "blocked": False} for c in rng().poisson(50, 2000)]
    )
    same = settled(TimeEstimator(), [{"service_s": s} for s in rng().exponential(1 / 50, 4000)])
    faster = settled(TimeEstimator(), [{"service_s": s} for s in rng().exponential(1 / 90, 4000)])
    assert change_between(before, same) is None
    assert change_between(before, faster).ratio == pytest.approx(1.8, rel=0.2)


def settled(estimator, values):
    """The last estimate of so many values."""
    told = [one for n, value in enumerate(values) for one in estimator.add(time_s=float(n), **value)]
    return [one for one in told if isinstance(one, Estimate)][-1]
