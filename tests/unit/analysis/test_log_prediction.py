"""Prediction of a job's throughput: nothing of the job itself, or of what ends later, may be known."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("sklearn")

from analysis.errors import BadSampleError
from analysis.log_prediction import intervals, trees
from analysis.log_prediction.evaluation import evaluate, split
from analysis.log_prediction.features import features
from analysis.log_prediction.history import HALF_LIFE, forecasts, key_means, share_of_newest
from analysis.log_prediction.jobs import Jobs, Known
from analysis.log_prediction.scores import score
from analysis.log_prediction.timeline import timeline
from tests.unit.analysis.made_jobs import made_jobs, with_other_futures, with_planted_leak


@pytest.fixture(autouse=True)
def _few_trees(monkeypatch):
    monkeypatch.setattr(trees, "TREES", 30)


def test_a_job_is_told_of_those_that_ended_before_it_started_and_of_no_other():
    jobs = replace(made_jobs(40), end_s=made_jobs(40).start_s + 250.0)
    told: set[int] = set()
    for place, _, ended in timeline(jobs):
        told |= {one for one, _, _ in ended}
        assert told == set(np.flatnonzero(jobs.end_s < jobs.start_s[place]))


def test_a_job_that_ends_in_the_second_in_which_another_starts_is_not_known_to_it():
    jobs = made_jobs(8)
    touching = replace(jobs, end_s=np.append(jobs.start_s[1:], jobs.start_s[-1] + 1))
    second = list(timeline(touching))[1]
    assert second[2] == []


@pytest.mark.parametrize("place", [5, 100, 161, 399])
def test_features_of_a_job_do_not_change_with_what_had_not_ended_when_it_started(place):
    jobs = made_jobs(400)
    training = split(jobs, 0.01 * (place // 8) + 0.01) & (jobs.end_s < jobs.start_s[place])
    before = features(jobs, training)
    after = features(with_other_futures(jobs, place), training)
    assert np.array_equal(before.values[place], after.values[place], equal_nan=True)
    assert before.weighted[place] == after.weighted[place]


def test_every_feature_says_when_it_is_known_and_none_is_known_only_at_the_end():
    jobs = made_jobs(60)
    columns = features(jobs, split(jobs, 0.6)).columns
    assert {column.known for column in columns} == {Known.SUBMITTED, Known.STARTED}
    assert all(column.known is Known.STARTED for column in columns if column.name.startswith("previous"))


def test_a_planted_leak_is_no_help():
    jobs = made_jobs(400, noise_sd=0.3, state_sd=0.0)  # nothing but the key can be known
    found = evaluate(with_planted_leak(jobs), train_share=0.6, others={}).scores()
    for direction in ("read", "write"):
        assert found[direction]["all"]["best"].within_r2 < 0.1


def test_the_same_leak_would_be_found_out_if_it_were_among_the_features():
    """Negative control: the test above can fail."""
    jobs = made_jobs(400, noise_sd=0.3, state_sd=0.0)
    training = split(jobs, 0.6)
    table = features(jobs, training)
    leaking = replace(table, values=np.column_stack([table.values, jobs.throughput]))
    trained = trees.train(jobs, leaking, training, seed=0, processes=1, report=lambda _: None)
    measured = np.log(jobs.throughput[~training])
    missed = np.mean((measured - trained.log_predicted[~training]) ** 2)
    assert missed < 0.8 * np.mean((measured - table.weighted[~training]) ** 2)


def test_the_state_of_the_file_system_is_learnt_from_the_jobs_just_before():
    found = evaluate(made_jobs(600), train_share=0.6, others={}).scores()
    for direction in ("read", "write"):
        assert found[direction]["all"]["best"].r2_log > found[direction]["all"]["history"].r2_log + 0.1


def test_trees_that_learn_nothing_are_not_trusted():
    jobs = made_jobs(1000, state_sd=0.0, noise_sd=0.3)
    scores = evaluate(jobs, train_share=0.6, others={}).scores()
    for direction in ("read", "write"):
        assert scores[direction]["all"]["best"].r2 > scores[direction]["all"]["history"].r2 - 0.02


def test_the_same_seed_predicts_the_same():
    one, other = (evaluate(made_jobs(200), train_share=0.6, others={}, seed=3) for _ in range(2))
    assert np.array_equal(one.predictions["best"].middle, other.predictions["best"].middle, equal_nan=True)


def test_the_history_is_the_exponentially_weighted_mean_of_the_same_key():
    jobs = made_jobs(80)
    share, found = share_of_newest(HALF_LIFE), forecasts(jobs).weighted
    assert (1 - share) ** HALF_LIFE == pytest.approx(0.5)
    for place in range(4, 80):
        earlier = [np.log(jobs.throughput[one]) for one in range(place) if jobs.keys[one] == jobs.keys[place]]
        expected = earlier[0]
        for value in earlier[1:]:
            expected = (1 - share) * expected + share * value
        assert found[place] == pytest.approx(expected)


def test_a_key_never_seen_takes_the_history_of_the_nearest_that_was():
    jobs = made_jobs(41)
    new = ("write", "ior", "shared", "1", "fs2")
    jobs = replace(jobs, keys=(*jobs.keys[:-1], new), file_systems=(*jobs.file_systems[:-1], "fs2"))
    same = forecasts(made_jobs(41)).weighted[-1]
    assert forecasts(jobs).weighted[-1] == pytest.approx(same)


def test_the_mean_of_a_key_is_that_of_its_training_jobs():
    jobs = made_jobs(80)
    training = split(jobs, 0.5)
    members = training & np.array([key == jobs.keys[-1] for key in jobs.keys])
    assert np.exp(key_means(jobs, training)[-1]) == pytest.approx(np.mean(jobs.throughput[members]))


def test_scores_are_those_of_the_textbook():
    measured, predicted = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0, 3.0])
    keys = [("a",), ("a",), ("b",), ("b",)]
    found = score(np.log(measured), np.log(predicted), keys, np.array([True, True, False, True]))
    assert found.r2 == pytest.approx(1 - 1 / 5)
    assert found.within_r2 == pytest.approx(1 - 1 / 1)
    assert (found.n, found.coverage90) == (4, 0.75)


def test_where_nothing_varies_there_is_no_share_to_explain():
    constant = np.full(7, np.log(0.1))
    found = score(constant, constant, [("a",)] * 7, np.ones(7, dtype=bool))
    assert np.isnan([found.r2, found.r2_log, found.within_r2]).all()


def test_intervals_hold_what_they_promise_although_the_machine_becomes_three_times_as_variable():
    rng, n = np.random.default_rng(5), 3000
    jobs = made_jobs(n)
    sd = np.where(np.arange(n) < n // 2, 0.1, 0.3)
    noisy: Jobs = replace(jobs, throughput=np.exp(8 + sd * rng.standard_t(4, n)))
    low, high = intervals.intervals(noisy, np.full(n, 8.0), np.full(n, 0.1))
    late = np.arange(n) > n // 2
    assert 0.87 < np.mean(intervals.inside(noisy, low, high)[late]) < 0.93


def test_the_ends_of_an_interval_are_quantiles_of_the_latest_errors():
    rng, n = np.random.default_rng(5), 600
    group = intervals._Group()
    errors = np.round(rng.normal(0, 1, n), 1)  # with ties
    for error in errors:
        group.learn(float(error), None)
    assert group.ends() == pytest.approx(tuple(np.quantile(errors[-intervals.WINDOW :], [0.05, 0.95])))


def test_models_are_compared_on_the_same_jobs():
    jobs = made_jobs(200)

    def half(jobs, training):
        return np.where(np.arange(len(jobs)) % 8 < 4, 8.0, np.nan)

    found = evaluate(jobs, train_share=0.6, others={"half": half}, forest=0).scores()
    assert {one.n for one in found["read"]["all"].values()} == {found["read"]["all"]["half"].n}
    assert found["read"]["all"]["half"].n == 20


def test_a_model_that_predicts_nothing_of_a_direction_is_left_out_of_it_and_the_others_stay():
    jobs = made_jobs(200)

    def only_writes(jobs, training):
        return np.where(jobs.of_direction("write"), 8.0, np.nan)

    found = evaluate(jobs, train_share=0.6, others={"only writes": only_writes}, forest=0).scores()
    assert set(found["read"]["all"]) == {"history", "key_mean", "last_run"}
    assert found["read"]["all"]["history"].n == found["write"]["all"]["only writes"].n == 40


@pytest.mark.parametrize(("n", "share"), [(20, 0.6), (100, 1.0), (100, 0.0), (100, 0.005)])
def test_too_few_jobs_and_impossible_shares_are_refused(n, share):
    with pytest.raises(BadSampleError):
        evaluate(made_jobs(n), train_share=share, others={})
