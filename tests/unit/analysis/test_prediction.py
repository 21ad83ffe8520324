"""The distribution of a configuration that was never run, on a small planted design."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")

from analysis.errors import BadSampleError
from analysis.prediction import LEVELS, Modality, Predictor, Samples, Split, evaluate
from analysis.prediction.active import choose
from analysis.prediction.baselines import delaunay, nearest_neighbour
from analysis.prediction.evaluate import auc
from analysis.prediction.factors import Factors
from analysis.prediction.kernel import Kernel
from analysis.prediction.quantiles import excess_crps, ks_distance, of_sample

NAMES = ("threads", "size", "mode", "host")
ROWS = [(str(t), str(s), m, "a") for t in (1, 2, 4, 8, 16) for s in (4, 64, 1024) for m in ("read", "write")]


def planted(row: tuple[str, ...]) -> float:
    return 1e5 * float(row[0]) ** 0.8 / (1 + 8 / float(row[1])) * (2 if row[2] == "read" else 1)


def drawn(runs: int = 60) -> list[np.ndarray]:
    rng = np.random.default_rng(5)
    return [planted(row) * np.exp(0.1 * rng.standard_normal(runs)) for row in ROWS]


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    shades = np.array([float(row[2] == "read") for row in ROWS])
    return Predictor.fit(
        NAMES, ROWS, drawn(), modality=Modality(multimodal=shades, several_components=shades), trees=10
    )


def test_a_level_between_measured_ones_is_predicted_near_its_truth(predictor: Predictor) -> None:
    row = ("6", "64", "read", "a")
    found = predictor.predict([row])
    assert found.quantiles[0, 49] == pytest.approx(planted(row), rel=0.15)
    assert not found.extrapolated[0]


def test_quantiles_never_decrease_and_lie_in_their_bands(predictor: Predictor) -> None:
    found = predictor.predict([("6", "64", "read", "a"), ("1", "4", "write", "a")])
    assert found.quantiles.shape == (2, len(LEVELS))
    assert np.all(np.diff(found.quantiles, axis=1) >= 0)
    assert np.all(found.low <= found.quantiles + 1e-6)
    assert np.all(found.quantiles <= found.high + 1e-6)


@pytest.mark.parametrize(
    "row", [("32", "64", "read", "a"), ("4", "2", "read", "a"), ("4", "64", "append", "a"), ("4", "64", "read", "b")]
)
def test_beyond_the_range_or_at_an_unknown_name_it_says_extrapolated(
    predictor: Predictor, row: tuple[str, ...]
) -> None:
    assert predictor.predict([row]).extrapolated[0]


def test_a_prediction_is_a_mixture_like_a_fitted_one(predictor: Predictor) -> None:
    row = ("4", "64", "read", "a")
    selection = predictor.predict([row]).selection(0)
    assert sum(selection.best.weights) == pytest.approx(1)
    assert selection.quantile(0.5) == pytest.approx(planted(row), rel=0.1)


def test_chances_of_several_modes_follow_the_verdicts(predictor: Predictor) -> None:
    found = predictor.predict([("4", "64", "read", "a"), ("4", "64", "write", "a")]).p_multimodal
    assert found is not None
    assert found.multimodal[0] > 0.7
    assert found.multimodal[1] < 0.3


def test_the_same_seed_predicts_the_same() -> None:
    rows = [("6", "64", "read", "a")]
    first, second = (Predictor.fit(NAMES, ROWS, drawn(20), trees=5, seed=3).predict(rows) for _ in range(2))
    assert np.array_equal(first.quantiles, second.quantiles)


def test_values_below_zero_are_predicted_as_they_are() -> None:
    samples = [np.log(sample / 1e5) for sample in drawn(20)]
    found = Predictor.fit(NAMES, ROWS, samples, trees=10).predict([("4", "64", "read", "a")])
    assert found.quantiles[0, 49] == pytest.approx(np.log(planted(("4", "64", "read", "a")) / 1e5), abs=0.2)


def test_what_cannot_be_predicted_from_is_said() -> None:
    with pytest.raises(BadSampleError, match="too few"):
        Predictor.fit(NAMES, ROWS[:5], drawn()[:5])
    with pytest.raises(BadSampleError, match="no label column"):
        Predictor.fit(NAMES, [ROWS[0]] * 12, drawn()[:12])
    with pytest.raises(BadSampleError, match="'many' is not a positive number"):
        Factors.of(NAMES, ROWS).codes([("many", "64", "read", "a")])


def test_an_evaluation_leaves_each_inner_level_out_and_flags_the_outer_ones() -> None:
    found = evaluate(Samples(names=NAMES, rows=ROWS, values=drawn(20)), Split.parse("leave=size"), trees=5)
    told = found.summary()
    assert list(told["left_out"]) == ["4", "64", "1024"]
    assert {error.left_out for error in found.errors if error.extrapolated} == {"4", "1024"}
    assert told["interpolated"]["n"] == 10


@pytest.mark.parametrize("text", ["folds=1", "leave=", "train-share=2", "halves"])
def test_an_unknown_split_is_refused(text: str) -> None:
    with pytest.raises(BadSampleError, match="folds=5"):
        Split.parse(text)


def test_the_distance_to_itself_is_the_step_of_the_sample_and_to_another_is_one() -> None:
    sample = np.sort(np.random.default_rng(1).standard_normal(500))
    assert ks_distance(of_sample(sample), sample) < 0.02
    assert ks_distance(of_sample(sample + 50), sample) == 1
    tied = np.repeat([1.0, 2.0], 50)
    assert ks_distance(of_sample(tied), tied) < 0.02


def test_the_excess_crps_of_a_point_beside_a_point_is_their_distance() -> None:
    assert excess_crps(np.full(99, 3.0), np.full(10, 1.0)) == pytest.approx(2.0)


def test_the_kernel_is_the_sum_over_interactions_and_its_slopes_are_its_slopes() -> None:
    kernel, rng = Kernel(numeric=np.array([True, True, False])), np.random.default_rng(2)
    x = np.column_stack([rng.integers(0, 4, 8), rng.standard_normal(8), rng.integers(0, 3, 8)]).astype(float)
    at = kernel.start() + 0.3 * rng.standard_normal(6)
    matrix, slopes = kernel.with_slopes(x, at)
    assert np.allclose(matrix, kernel.matrix(x, x, at))
    assert np.allclose(np.diag(matrix), kernel.variance(at))
    for place, slope in enumerate(slopes):
        step = np.zeros(6)
        step[place] = 1e-6
        assert np.allclose(slope, (kernel.matrix(x, x, at + step) - matrix) / 1e-6, atol=1e-4)


def test_products_and_ratios_of_sizes_and_counts_are_coordinates_of_their_own() -> None:
    factors = Factors.of(("size", "record", "mode"), [("4", "4", "a"), ("64", "4", "b"), ("64", "16", "a")])
    found = factors.coordinates(factors.codes([("16", "4", "a"), ("4", "16", "a"), ("64", "16", "a")]))
    assert found.shape == (3, len(factors.smooth)) == (3, 5)
    assert found[0, 3] == found[1, 3] < found[2, 3]  # the products
    assert found[0, 4] == found[2, 4] > found[1, 4]  # the ratios


def test_bands_are_wider_at_a_level_that_was_never_measured(predictor: Predictor) -> None:
    found = predictor.predict([("6", "64", "read", "a"), ("8", "64", "read", "a")])
    width = np.log(found.high / found.low)[:, 49]
    assert width[0] > width[1]


def test_what_is_measured_next_stands_for_others_and_is_no_repetition_in_a_factor_that_does_not_matter() -> None:
    names, rows = (*NAMES, "day"), [(*row, day) for row in ROWS for day in "xyz"]
    samples = [sample for sample in drawn(20) for _ in "xyz"]
    known = list(range(0, len(rows), 7))
    predictor = Predictor.fit(names, [rows[at] for at in known], [samples[at] for at in known], trees=5)
    left = [row for at, row in enumerate(rows) if at not in known]
    chosen = [left[at] for at in choose(predictor, left, 6)]
    assert len({row[:4] for row in chosen} - {rows[at][:4] for at in known}) == 6


def test_baselines_are_the_nearest_and_the_mesh(predictor: Predictor) -> None:
    codes = predictor.measured.factors.codes([("4", "64", "read", "a"), ("6", "64", "read", "a")])
    row = ROWS.index(("4", "64", "read", "a"))
    mesh = delaunay(predictor.measured, codes)
    assert np.allclose(nearest_neighbour(predictor.measured, codes)[0], predictor.measured.quantiles[row])
    assert np.allclose(mesh[0], predictor.measured.quantiles[row])
    assert mesh[0, 49] < mesh[1, 49] < np.log(planted(("8", "64", "read", "a")) * 1.1)


def test_the_area_under_the_curve_counts_pairs_in_order() -> None:
    assert auc([0.1, 0.2, 0.9, 0.5], [False, True, True, False]) == pytest.approx(0.75)
    assert auc([0.1, 0.2], [True, True]) is None
