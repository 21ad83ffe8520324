"""Bootstrap standard errors: theory, determinism, what is refused."""

import numpy as np
import pytest

from analysis import mixture
from analysis.errors import AnalysisError, BadSampleError

NORMAL = mixture.Options(families=("normal",), max_components=2)
ONE = mixture.Options(families=("normal",), max_components=1)


def errors(x, quantiles=(0.5,), *, options=NORMAL, seed=1, resamples=20):
    rng = np.random.default_rng(seed)
    return mixture.quantile_se_bootstrap(x, quantiles, options=options, rng=rng, resamples=resamples)


def test_the_median_of_a_normal_sample_has_its_known_standard_error():
    """The median of a fitted normal is its mean: sigma / sqrt(n)."""
    x = np.random.default_rng(0).normal(100.0, 5.0, 200)
    assert errors(x, options=ONE, resamples=150) == pytest.approx([5 / np.sqrt(200)], rel=0.2)


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_the_choice_of_a_model_adds_to_the_standard_error(seed):
    """Groups so close that BIC sees one component, but two in many a draw. Both bootstraps draw the same runs."""
    rng = np.random.default_rng(seed)
    x = np.concatenate([rng.normal(0.0, 1.0, 100), rng.normal(2.5, 1.0, 30)])
    chosen = mixture.select(x, options=NORMAL)
    assert chosen.components == 1
    with_choice, without = (errors(x, (0.9,), options=options, resamples=60)[0] for options in (NORMAL, ONE))
    assert with_choice > 1.15 * without
    assert with_choice > 1.15 * chosen.quantile_se(0.9)


def test_the_unit_of_x_is_that_of_the_standard_error():
    x = np.random.default_rng(0).normal(100.0, 5.0, 60)
    np.testing.assert_allclose(errors(1e300 * x), 1e300 * errors(x), rtol=1e-5)


def test_a_seed_gives_the_same_standard_errors_in_any_number_of_processes():
    samples = [np.random.default_rng(seed).normal(9.0, 1.0, 40) for seed in range(3)]
    one, two = (
        list(mixture.bootstrap_each(samples, (0.1, 0.9), seed=5, options=NORMAL, resamples=5, processes=processes))
        for processes in (1, 2)
    )
    np.testing.assert_array_equal(one, two)
    assert np.shape(one) == (3, 2)


def test_two_runs_are_enough():
    assert errors([1.0, 2.0], resamples=5)[0] >= 0


@pytest.mark.parametrize(
    ("x", "arguments", "reason"),
    [
        ([1.0, 2.0], {"quantiles": (1.0,)}, "0 < q < 1"),
        ([1.0, 2.0], {"resamples": 1}, "at least 2 resamples"),
        ([3.0, 3.0], {}, "nothing varies"),
        ([3.0, np.nan], {}, "only finite numbers"),
    ],
)
def test_what_cannot_be_drawn_is_refused(x, arguments, reason):
    with pytest.raises(AnalysisError, match=reason):
        errors(x, **arguments)


def test_a_sample_without_a_result_is_a_failure_among_the_others():
    bad, good = mixture.bootstrap_each([[3.0, 3.0], [1.0, 2.0, 4.0]], (0.5,), seed=1, options=NORMAL, resamples=3)
    assert isinstance(bad, mixture.Failure)
    assert isinstance(bad.error, BadSampleError)
    assert good.shape == (1,)
