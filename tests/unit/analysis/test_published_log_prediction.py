"""The procedure of Kim et al. (2020), and its misprints."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

from analysis.log_prediction.published import regressors
from analysis.log_prediction.published.classes import intensity_class, predict_classes
from analysis.log_prediction.published.procedure import predict
from analysis.log_prediction.published.records import Records, Source, most_recent
from analysis.log_prediction.published.selection import best_of, select_features


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Four of the regressors: the networks take seconds."""
    monkeypatch.setattr(regressors, "NAMES", ("linear", "polynomial", "kNN", "CNN"))
    monkeypatch.setattr(regressors, "available", lambda: ("linear", "polynomial", "kNN"))


def made_records(n: int = 240, *, owners=None) -> Records:
    """Throughput follows the file system's rate, which follows the bytes that the application moves."""
    rng = np.random.default_rng(2)
    start = 100.0 * np.arange(n)
    processes = rng.choice([64.0, 128.0], n)
    moved = np.where(np.arange(n) % 2, 1e3, 5e3)
    rate = 2 * moved + rng.normal(0, 50, n)
    return Records(
        start_s=start,
        end_s=start + 50,
        target=rate + rng.normal(0, 20, n),
        owners=tuple(owners or [("odd" if place % 2 else "even", "u", "g") for place in range(n)]),
        names=("NumProcs", "WriteBytesTotal", "NumFile", "ossWrite95"),
        sources=(Source.SCHEDULER, Source.APPLICATION, Source.APPLICATION, Source.FILE_SYSTEM),
        values=np.column_stack([processes, moved, rng.normal(0, 1, n), rate]),
        intensity=np.where(np.arange(n) % 2, 90.0, 50.0),
    )


def test_the_three_strongest_correlations_are_selected():
    rng = np.random.default_rng(0)
    y = rng.normal(0, 1, 200)
    values = np.column_stack([rng.normal(0, 1, 200), -y, y + rng.normal(0, 1, 200), y + rng.normal(0, 3, 200), 0 * y])
    assert select_features(values, y, range(5)) == (1, 2, 3)


def test_the_best_algorithm_wins_and_not_the_last_positive_one():
    coefficients = {("-", "linear"): 0.4, ("-", "RF"): 0.8, ("-", "MLP"): 0.1, ("-", "kNN"): float("nan")}
    as_printed = [pair for pair, coefficient in coefficients.items() if coefficient > 0][-1]
    assert best_of(coefficients) == ("-", "RF") != as_printed


def test_missing_values_come_from_the_most_recent_run_and_not_the_oldest():
    records = made_records(10)
    assert most_recent(records).tolist() == [-1, -1, 0, 1, 2, 3, 4, 5, 6, 7]


def test_a_run_that_has_not_ended_is_not_the_most_recent():
    records = made_records(4, owners=[("p", "u", "g")] * 4)
    slow = Records(**{**vars(records), "end_s": np.array([500.0, 150.0, 250.0, 350.0])})
    assert most_recent(slow).tolist() == [-1, -1, 1, 2]


def test_the_owner_is_relaxed_one_by_one():
    owners = [("p", "u", "g"), ("p", "u", "h"), ("p", "v", "h"), ("p", "u", "g"), ("q", "u", "g")]
    assert most_recent(made_records(5, owners=owners)).tolist() == [-1, 0, 1, 0, -1]


def test_file_system_features_are_predicted_in_a_first_stage():
    records = made_records()
    found = predict(records, np.arange(240) < 160)
    assert found.chosen is not None
    assert found.chosen.features[0] == "ossWrite95"
    assert found.chosen.first_stage["ossWrite95"][0] == "WriteBytesTotal"
    assert len(found.chosen.coefficients) == 9  # all combinations of three regressors
    assert np.corrcoef(found.predicted[160:], records.target[160:])[0, 1] > 0.99


def test_the_choice_is_made_within_the_training_period_unless_the_test_is_asked_for():
    records, training = made_records(), np.arange(240) < 160
    other = Records(**{**vars(records), "target": np.where(training, records.target, 1e9 * np.arange(240) + 1)})
    honest, again = predict(records, training), predict(other, training)
    assert honest.chosen is not None
    assert again.chosen is not None
    assert honest.chosen.coefficients == again.chosen.coefficients
    peeking = predict(other, training, select="test")
    assert peeking.chosen is not None
    assert peeking.chosen.coefficients != again.chosen.coefficients


def test_a_program_never_seen_is_predicted_from_the_scheduler_alone():
    owners = [("odd" if place % 2 else "even", "u", "g") for place in range(239)] + [("new", "w", "h")]
    records = made_records(240, owners=owners)
    other = Records(**{**vars(records), "values": records.values.copy()})
    other.values[-1, 1:] = 1e15
    one, two = (predict(which, np.arange(240) < 160).predicted[-1] for which in (records, other))
    assert one == two
    assert np.isfinite(one)


def test_predictions_use_nothing_that_the_job_itself_leaves_behind():
    records = made_records()
    other = Records(**{**vars(records), "values": records.values.copy()})
    other.values[-1, 1:] = 1e15
    training = np.arange(240) < 160
    assert predict(records, training).predicted[-1] == predict(other, training).predicted[-1]


def test_intensity_classes_are_the_papers():
    assert [intensity_class(one) for one in (80.0, 79.9, 30.0, 29.9, float("nan"))] == [
        "high", "medium", "medium", "low", "unknown",
    ]  # fmt: skip


@pytest.mark.parametrize(("classes", "names"), [("intensity", {"high", "medium"}), ("program", {"odd", "even"})])
def test_each_class_has_models_of_its_own(classes, names):
    found = predict_classes(made_records(), np.arange(240) < 200, classes=classes)
    assert names <= set(found)
    told = np.array([np.isfinite(one.predicted[200:]) for one in found.values()])
    assert np.all(np.sum(told, axis=0) == 1)


def test_all_six_regressors_learn_a_straight_line(monkeypatch):
    monkeypatch.undo()
    x = np.random.default_rng(0).uniform(0, 1, (300, 3))
    y = 1000 + 5000 * x[:, 0]
    for name in regressors.available():
        model = regressors.make(name, seed=0, processes=1).fit(x, y)
        assert np.corrcoef(model.predict(x), y)[0, 1] > 0.9, name
