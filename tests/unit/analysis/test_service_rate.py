"""Service rates of streams and traces: what is estimated, when nothing is, and where a phase changes."""

import numpy as np
import pytest

from analysis.errors import BadOptionsError, BadSampleError
from analysis.service_rate import CountEstimator, Estimate, NoEstimate, PhaseChange, TimeEstimator, Trace, outcomes

PERIOD_S = 0.01


def trace(count, blocked, rng, rate=None):
    """40 % (or so) blocked, of the others a tenth partial without a mark, one in a hundred tripled."""
    n = len(count)
    blocked = rng.random(n) < blocked
    other = rng.random(n)
    count = count.astype(float)
    cut, tripled = blocked | (other < 0.1), ~blocked & (other > 0.99)
    count[cut] = np.floor(count[cut] * rng.random(np.sum(cut)))
    count[tripled] *= 3
    return Trace(time_s=PERIOD_S * np.arange(1, n + 1), count=count, blocked=blocked)


def estimates(told):
    return [one for one in told if isinstance(one, Estimate)]


@pytest.mark.parametrize("mean", [1, 6, 300])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_contaminated_trace_tells_the_unblocked_rate(mean, seed):
    rng = np.random.default_rng(seed)
    found = estimates(outcomes(trace(rng.poisson(mean, 6000), 0.4, rng)))
    assert len(found) >= 1
    assert np.median([one.rate for one in found]) * PERIOD_S == pytest.approx(mean, rel=0.1)
    assert 2 * sum(one.low * PERIOD_S <= mean <= one.high * PERIOD_S for one in found) > len(found)


def test_a_nearly_deterministic_trace_tells_it_too_and_is_not_taken_for_exponential():
    rng = np.random.default_rng(4)
    found = estimates(outcomes(trace(np.floor(rng.random(6000) + 5.3), 0.4, rng)))
    assert np.median([one.rate for one in found]) * PERIOD_S == pytest.approx(5.3, rel=0.03)
    assert {one.shape for one in found} == {"deterministic"}


def test_the_published_rate_is_a_maximum_well_above_it():
    rng = np.random.default_rng(5)
    found = estimates(outcomes(trace(rng.poisson(200, 6000), 0.4, rng)))
    excess = np.median([one.rate_published / one.rate for one in found])
    assert 1.11 <= excess <= 1.25


def test_rows_left_out_of_a_trace_change_nothing():
    rng = np.random.default_rng(6)
    whole = trace(rng.poisson(50, 6000), 0.4, rng)
    gone = ~whole.blocked
    short = Trace(time_s=whole.time_s[gone], count=whole.count[gone], blocked=whole.blocked[gone])
    assert [one.time_s for one in outcomes(short)] == [one.time_s for one in outcomes(whole)]


def test_periods_of_no_item_or_one_are_read_as_inter_completion_times():
    rng = np.random.default_rng(7)
    found = estimates(outcomes(trace(rng.poisson(0.2, 6000), 0.4, rng)))
    assert {one.basis for one in found} == {"inter-completion times"}
    assert {one.rate_published for one in found} == {None}
    assert np.median([one.rate for one in found]) * PERIOD_S == pytest.approx(0.2, rel=0.15)


def test_a_server_that_is_always_blocked_has_no_estimate_and_says_why():
    blocked = Trace(time_s=np.arange(1.0, 101), count=np.ones(100), blocked=np.ones(100, dtype=bool))
    assert [one.reason for one in outcomes(blocked) if isinstance(one, NoEstimate)] == [
        "all 100 periods were blocked: nothing is known of how fast the server could go"
    ]


def test_a_short_trace_has_no_estimate_and_says_why():
    short = Trace(time_s=np.arange(1.0, 51), count=np.full(50, 9.0), blocked=np.zeros(50, dtype=bool))
    (only,) = outcomes(short)
    assert isinstance(only, NoEstimate)
    assert "50 unblocked periods (0 % were blocked) were too few" in only.reason


def test_a_server_that_finishes_nothing_has_no_estimate():
    idle = Trace(time_s=np.arange(1.0, 1001), count=np.zeros(1000), blocked=np.zeros(1000, dtype=bool))
    assert [type(one) for one in outcomes(idle)] == [NoEstimate]


def test_a_change_of_phase_shows_as_a_new_value_and_as_an_event():
    rng = np.random.default_rng(8)
    count = np.concatenate([rng.poisson(60, 2500), rng.poisson(40, 2500)])
    told = list(outcomes(trace(count, 0.2, rng)))
    (change,) = [one for one in told if isinstance(one, PhaseChange)]
    assert change.began_s == pytest.approx(25, abs=0.5)
    assert change.ratio == pytest.approx(40 / 60, rel=0.1)
    early = [one.rate for one in estimates(told) if one.time_s < change.began_s]
    late = [one.rate for one in estimates(told) if one.time_s > change.time_s]
    assert np.median(early) == pytest.approx(6000, rel=0.05)
    assert np.median(late) == pytest.approx(4000, rel=0.05)


def test_a_node_that_slows_down_is_noticed_from_the_seconds_of_its_jobs():
    rng = np.random.default_rng(9)
    estimator, told, now_s = TimeEstimator(), [], 0.0
    for service_s in np.concatenate([rng.gamma(20, 1.0, 300), rng.gamma(20, 1.6, 300)]).tolist():
        now_s += service_s
        told += estimator.add(time_s=now_s, service_s=service_s)
    (change,) = [one for one in told if isinstance(one, PhaseChange)]
    assert change.ratio == pytest.approx(1 / 1.6, rel=0.15)
    current = estimator.current()
    assert isinstance(current, Estimate)
    assert current.rate == pytest.approx(1 / 32, rel=0.1)


def test_an_estimator_holds_no_more_than_its_window():
    rng = np.random.default_rng(10)
    estimator = CountEstimator(period_s=PERIOD_S)
    for k, count in enumerate(rng.poisson(30, 6000).tolist()):
        estimator.add(time_s=k * PERIOD_S, count=count, blocked=False)
    assert len(estimator._history.values) <= 4096


def test_moments_of_service_are_those_of_the_clean_counts():
    rng = np.random.default_rng(11)
    last = estimates(outcomes(trace(rng.poisson(100, 6000), 0.3, rng)))[-1]
    assert last.variance == pytest.approx(100, rel=0.2)
    assert last.skewness == pytest.approx(0.1, abs=0.35)
    assert last.kurtosis == pytest.approx(0, abs=0.6)
    assert last.shape == "exponential"


def test_values_that_make_no_sense_are_refused():
    with pytest.raises(BadOptionsError, match="period_s is a number above 0"):
        CountEstimator(period_s=0)
    with pytest.raises(BadOptionsError, match="count"):
        CountEstimator(period_s=1).add(time_s=0, count=float("nan"), blocked=False)
    with pytest.raises(BadOptionsError, match="inter-completion"):
        TimeEstimator().add(time_s=0, service_s=0)
    with pytest.raises(BadSampleError, match="ascending"):
        Trace(time_s=np.array([1.0, 1.0]), count=np.ones(2), blocked=np.zeros(2, dtype=bool))
    with pytest.raises(BadSampleError, match="at least 2 periods"):
        Trace(time_s=np.ones(1), count=np.ones(1), blocked=np.zeros(1, dtype=bool))
