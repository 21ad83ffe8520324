"""Costs that are learned, and the time left that follows from them."""

import numpy as np
import pytest

from analysis.errors import BadOptionsError, BadSampleError
from analysis.service_rate import cost
from analysis.service_rate.time_left import Node, OpenJobs, node_speed, time_left, with_more_nodes

SETTINGS = [{"threads": t, "file_size_kb": s, "disk": d} for t in (1, 8, 64) for s in (4, 1024) for d in ("a", "b")]
PRIOR = np.full(len(SETTINGS), 5.0)


def true_s(setting):
    return 2 * setting["threads"] ** 0.5 * (1.5 if setting["disk"] == "b" else 1.0)


def runs(settings, each, seed=1, sd=0.1):
    rng = np.random.default_rng(seed)
    ran = np.repeat(np.array(settings), each)
    return ran, np.array([true_s(SETTINGS[k]) for k in ran]) * np.exp(sd * rng.standard_t(4, len(ran)))


def rng():
    return np.random.default_rng(3)


def jobs(count, runs_each=2):
    return OpenJobs(setting=np.arange(count) % len(SETTINGS), runs=np.full(count, runs_each))


def test_costs_of_settings_never_run_follow_from_the_factors():
    ran, seconds = runs([0, 1, 2, 5, 6, 8, 11], 6)
    costs = cost.fit(SETTINGS, ran, seconds, PRIOR)
    for unseen in (3, 4, 7, 9, 10):
        assert np.exp(costs.log_s[unseen]) == pytest.approx(true_s(SETTINGS[unseen]), rel=0.2)


def test_a_setting_that_ran_often_has_its_own_mean():
    """One setting is four times as slow as its factors tell."""
    ran, seconds = runs(range(12), 20)
    seconds[ran == 5] *= 4
    costs = cost.fit(SETTINGS, ran, seconds, PRIOR)
    assert np.exp(costs.log_s[5]) == pytest.approx(4 * true_s(SETTINGS[5]), rel=0.1)
    assert np.exp(costs.log_s[4]) == pytest.approx(true_s(SETTINGS[4]), rel=0.1)


def test_the_factors_alone_would_miss_it():
    """Negative control: the regression without the settings' own means."""
    ran, seconds = runs(range(12), 20)
    seconds[ran == 5] *= 4
    features = np.column_stack([np.ones(len(SETTINGS)), cost.design_matrix(SETTINGS)])
    slopes = np.linalg.lstsq(features[ran], np.log(seconds), rcond=None)[0]
    assert np.exp(features[5] @ slopes) != pytest.approx(4 * true_s(SETTINGS[5]), rel=0.1)


def test_before_the_first_runs_the_prior_speaks():
    costs = cost.fit(SETTINGS, np.array([], dtype=np.int64), np.array([]), PRIOR)
    assert np.exp(costs.log_s) == pytest.approx(PRIOR)
    assert np.all(costs.sd > 0.3)


def test_what_a_replayed_control_costs_says_nothing_of_the_benchmark():
    """The first jobs of a campaign may all be controls, for which the prior is off by a factor of its own."""
    ran, seconds = np.zeros(20, dtype=np.int64), np.full(20, 100.0)
    costs = cost.fit(SETTINGS, ran, seconds, PRIOR, kinds=["control", *["iozone"] * (len(SETTINGS) - 1)])
    assert np.exp(costs.log_s[0]) == pytest.approx(100.0, rel=0.05)
    assert np.exp(costs.log_s[1:]) == pytest.approx(PRIOR[1:], rel=0.3)
    assert np.all(costs.sd[1:] > 0.3)


def test_costs_that_make_no_sense_are_refused():
    with pytest.raises(BadSampleError, match="above 0"):
        cost.fit(SETTINGS, np.zeros(5, dtype=np.int64), np.zeros(5), PRIOR)
    with pytest.raises(BadSampleError, match="a setting and a cost"):
        cost.fit(SETTINGS, np.zeros(4, dtype=np.int64), np.ones(5), PRIOR)


def known():
    """Costs that are known exactly: what is left is arithmetic."""
    log_s = np.log([true_s(setting) for setting in SETTINGS])
    return cost.CostModel(
        log_s=log_s,
        sd=np.zeros(len(log_s)),
        common_sd=0.0,
        residuals=np.zeros(4),
        by_factors=log_s,
        own_counts_from=np.inf,
    )


def test_the_time_left_is_the_work_over_the_nodes():
    nodes = [Node(name=f"m{k}", speed_sd=0.0) for k in range(4)]
    left = time_left(jobs(480), known(), nodes, rng())
    work_s = 2 * 40 * sum(map(true_s, SETTINGS))
    assert left.low_s == pytest.approx(work_s / 4, rel=0.03)  # no misfortune yet
    assert left.low_s <= left.median_s <= left.high_s


def test_a_lost_node_and_a_slow_one_count_for_what_they_are():
    nodes = [Node(name=f"m{k}", speed_sd=0.0) for k in range(4)]
    lost = [*nodes[:3], Node(name="m3", working=False)]
    slow = [*nodes[:3], Node(name="m3", speed=0.5, speed_sd=0.0)]
    whole, without, slowed = (time_left(jobs(480), known(), some, rng()).low_s for some in (nodes, lost, slow))
    assert without / whole == pytest.approx(4 / 3, rel=0.05)
    assert slowed / whole == pytest.approx(4 / 3.5, rel=0.05)


def test_nobody_works_on_it():
    left = time_left(jobs(5), known(), [Node(name="m0", working=False)], rng())
    assert left.median_s is None
    assert left.reason == "no node works on it"


def test_nothing_is_left_but_the_jobs_in_hand():
    left = time_left(jobs(0), known(), [Node(name="m0", free_in_s=60.0)], rng())
    assert left.median_s == pytest.approx(60, rel=0.2)


def test_what_if_two_more_nodes_or_half_the_replicates():
    nodes = [Node(name=f"m{k}", speed_sd=0.01) for k in range(4)]
    now = time_left(jobs(480, 4), known(), nodes, rng()).median_s
    more = time_left(jobs(480, 4), known(), with_more_nodes(nodes, 2), rng()).median_s
    half = time_left(jobs(480, 4).with_share_of_runs(0.5), known(), nodes, rng()).median_s
    assert more / now == pytest.approx(4 / 6, rel=0.1)
    assert half / now == pytest.approx(1 / 2, rel=0.1)
    with pytest.raises(BadOptionsError, match="share of the replicates"):
        jobs(3).with_share_of_runs(0)


def test_a_node_is_as_fast_as_its_latest_runs():
    record = np.concatenate([np.zeros(100), np.full(24, np.log(0.5))])
    speed, sd = node_speed(record, 0.1)
    assert speed == pytest.approx(0.5, rel=0.05)
    assert sd < 0.05
    assert node_speed(np.array([]), 0.1) == (1.0, 0.1)


def test_the_same_seed_tells_the_same_time():
    nodes = [Node(name="m0")]
    assert time_left(jobs(20), known(), nodes, rng()) == time_left(jobs(20), known(), nodes, rng())
