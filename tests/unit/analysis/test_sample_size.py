"""Sample sizes: the paper's numbers, theory, what is capped, what is told."""

import numpy as np
import pytest

from analysis import mixture, sample_size
from analysis.errors import AnalysisError, BadSampleError


def model(family, *components):
    """A known mixture of (weight, location, scale)."""
    weights, locations, scales = zip(*components, strict=True)
    at_floor = (False,) * len(weights)
    known = {"loglik": 0.0, "n": 1, "converged": True, "iterations": 0}
    return mixture.Fit(family=family, weights=weights, locations=locations, scales=scales, at_floor=at_floor, **known)


PAPER = model("normal", (0.03977, 1.6023, 2.3462), (0.96023, -0.06634, 0.8376))
NORMAL = model("normal", (1.0, 100.0, 5.0))
NORMALS = mixture.Options(families=("normal",))


def need_of(fit, x=None, **target):
    centre = sample_size.centre_of_fit(fit) if x is None else sample_size.centre_of_sample(x)
    return sample_size.need(sample_size.Candidates.known(fit), sample_size.Target(**target), centre, x)


def test_the_appendix_has_these_gammas():
    low, high = (sample_size.of_fit(PAPER, q) for q in (0.1, 0.9))
    assert low.gamma(1) == pytest.approx(1.197729 / -1.143912, rel=1e-6)
    assert high.gamma(1) == pytest.approx(1.259913, rel=1e-6)


@pytest.mark.parametrize("n", [40, 250])
def test_gamma_falls_with_the_square_root_of_n_whatever_the_model(n):
    for one in (sample_size.of_fit(PAPER, 0.9), sample_size.of_sample(NORMAL, 0.3)):
        assert one.gamma(n) / one.gamma(1) == pytest.approx(n**-0.5)


def test_centred_gamma_is_negative_below_the_mean_and_has_none_at_it():
    assert sample_size.of_fit(NORMAL, 0.1).gamma(10, centre=100.0) < 0
    at_mean = sample_size.of_fit(NORMAL, 0.5)
    assert at_mean.gamma(10, centre=at_mean.value) is None


def test_the_fits_quantile_of_a_normal_has_the_error_of_mean_and_deviation():
    z = 1.2815515655446004
    assert sample_size.of_fit(NORMAL, 0.9).unit_error == pytest.approx(5 * np.sqrt(1 + z**2 / 2))


def test_the_samples_quantile_has_the_error_of_an_order_statistic():
    rng = np.random.default_rng(0)
    drawn = np.quantile(rng.normal(100, 5, (4000, 400)), 0.9, axis=1)
    assert sample_size.of_sample(NORMAL, 0.9).error(400) == pytest.approx(np.std(drawn), rel=0.04)


def test_one_normal_needs_111_runs_for_the_fit_and_178_for_the_sample():
    assert need_of(NORMAL, estimator="fit").n == 111
    assert need_of(NORMAL, estimator="sample").n == 178
    assert need_of(NORMAL).n == 178


def test_the_unit_changes_no_sample_size():
    larger = model("normal", (1.0, 1e102, 5e100))
    assert need_of(larger).needed == pytest.approx(need_of(NORMAL).needed)


def test_other_scales_ask_for_other_sizes():
    assert need_of(NORMAL, scale="sd", estimator="sample").needed == pytest.approx((1.7094 / 0.05) ** 2, rel=1e-3)
    assert need_of(NORMAL, scale="quantile").n == 30
    assert need_of(NORMAL, scale="quantile", centred=True, max_n=10_000).n > 300


def test_a_model_without_a_standard_deviation_cannot_be_scaled_by_it():
    with pytest.raises(AnalysisError, match="no standard deviation"):
        need_of(model("frechet", (1.0, 1.0, 0.8)), scale="sd")


def test_what_the_target_asks_beyond_the_largest_n_is_told():
    capped = need_of(NORMAL, share=0.01)
    assert capped.n == 900
    assert not capped.met
    assert capped.uncapped == 4448


def test_no_sample_is_smaller_than_30_or_than_the_pilot():
    x = np.random.default_rng(1).normal(100, 5, 60)
    assert need_of(NORMAL, x, share=0.5).n == 60
    assert need_of(NORMAL, share=0.5).n == 30
    beyond = need_of(NORMAL, x, share=0.001, max_n=50)
    assert beyond.n == 60
    assert not beyond.met


def test_a_valley_at_the_quantile_asks_for_many_runs():
    """Nine tenths of the runs in one group: x_0.9 is anywhere between the two."""
    apart = model("normal", (0.9, 100.0, 1.0), (0.1, 150.0, 1.0))
    assert not need_of(apart, max_n=100_000).met


def test_all_mixtures_that_the_pilot_leaves_possible_have_a_say():
    x = np.random.default_rng(3).normal(100, 5, 40)
    chosen = sample_size.choose(x, mixture.Options())
    needed = sample_size.need(chosen, sample_size.Target(), sample_size.centre_of_sample(x), x)
    assert needed.needed >= needed.by_sample
    assert chosen.best in chosen.possible
    assert 1 < len(chosen.possible) < len(chosen.table)


def test_a_number_of_components_can_be_forced():
    x = np.random.default_rng(3).normal(100, 5, 40)
    assert sample_size.choose(x, mixture.Options(families=("normal",)), 3).best.components == 3
    assert sample_size.choose(x, mixture.Options(families=("normal", "gamma")), 2).best.components == 2
    with pytest.raises(BadSampleError, match="distinct values"):
        sample_size.choose([1.0, 2.0, 1.0], mixture.Options(families=("normal", "gamma")), 3)


def test_the_interval_of_n_is_repeatable_and_holds_what_selection_adds():
    x = np.random.default_rng(3).normal(100, 5, 40)
    one, several = mixture.Options(families=("normal",), max_components=1), mixture.Options(families=("normal",))
    first, again, wider = (
        sample_size.interval(
            sample_size.choose(x, options), sample_size.Target(), x, rng=np.random.default_rng(0), resamples=30
        )
        for options in (one, one, several)
    )
    assert first == again == (178, 178)
    assert wider[0] <= 178 < wider[1]


def test_draws_that_support_none_of_the_mixtures_have_an_interval_too():
    """Eight runs far from the others: one component is out of the question, and draws hold fewer than eight of them."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(100, 1, 30), rng.normal(1000, 1, 8)])
    chosen = sample_size.choose(x, NORMALS)
    assert min(one.components for one in chosen.possible) > 1
    low, high = sample_size.interval(chosen, sample_size.Target(), x, rng=rng, resamples=10)
    assert 38 <= low <= high


@pytest.mark.parametrize("q", [0.1, 0.5])
def test_order_statistics_hold_the_quantile(q):
    rng = np.random.default_rng(0)
    held = [low < q <= high for low, high in (sample_size.order_interval(rng.random(80), q) for _ in range(1500))]
    assert 0.945 < np.mean(held) < 0.99


def test_too_few_runs_have_no_lower_end():
    assert sample_size.order_interval(np.arange(30.0), 0.1)[0] is None
    assert sample_size.order_interval(np.arange(30.0), 0.9)[1] is None


def test_confirm_asks_for_what_the_median_of_a_normal_needs():
    rng = np.random.default_rng(0)
    ideal = (1.96 * np.sqrt(np.pi / 2) * 5) ** 2
    assert ideal < sample_size.confirm(rng.normal(100, 5, 2000), rng=rng) < 1.4 * ideal


def test_confirm_cannot_ask_for_more_runs_than_there_are():
    rng = np.random.default_rng(0)
    assert sample_size.confirm(rng.normal(100, 5, 40), rng=rng) is None


def test_a_growing_sample_ends_when_its_own_fit_is_content():
    x = np.random.default_rng(5).normal(100, 5, 900)
    steps = list(sample_size.grow(lambda n: x[:n], sample_size.Target(estimator="sample"), options=NORMALS))
    assert steps[0].n == 40
    assert [step.n for step in steps] == sorted({step.n for step in steps})
    assert steps[-1].need.met
    assert 170 < steps[-1].n < 250


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"quantiles": ()}, "at least one"),
        ({"quantiles": (0.1, 0.1)}, "named twice"),
        ({"quantiles": (1.0,)}, "0 < q < 1"),
        ({"share": 0.0}, "above 0"),
        ({"max_n": 0}, "at least 1"),
    ],
)
def test_a_target_that_makes_no_sense_is_refused(wrong, reason):
    with pytest.raises(AnalysisError, match=reason):
        sample_size.Target(**wrong)


def test_sizes_of_a_curve_end_with_the_largest():
    assert sample_size.sizes(900) == [1, 2, 5, 10, 20, 50, 100, 200, 500, 900]
    assert sample_size.sizes(1000)[-2:] == [500, 1000]
    assert sample_size.sizes(1) == [1]


def clustered(rng, *, jobs, runs, job_sd):
    """`jobs` jobs of `runs` runs, each with a level of its own."""
    levels = rng.normal(1000, job_sd, jobs) if job_sd else np.full(jobs, 1000.0)
    values = np.repeat(levels, runs) + rng.normal(0, 10, jobs * runs)
    return values, [str(job) for job in range(jobs) for _ in range(runs)]


def test_runs_that_are_independent_need_no_more_of_them():
    rng = np.random.default_rng(1)
    x, jobs = clustered(rng, jobs=15, runs=10, job_sd=0)
    assert sample_size.inflation(x, jobs, (0.1, 0.9), rng=rng) == 1


def test_where_runs_of_a_job_are_alike_more_are_needed():
    rng = np.random.default_rng(2)
    x, jobs = clustered(rng, jobs=15, runs=10, job_sd=20)
    factor = sample_size.inflation(x, jobs, (0.1, 0.9), rng=rng)
    assert 2 < factor < 15, "between independent runs and one run a job"
    plain = sample_size.need(sample_size.choose(x, NORMALS), sample_size.Target(), sample_size.centre_of_sample(x), x)
    assert plain.times(factor).needed == plain.needed * factor


@pytest.mark.parametrize("jobs", [["one"] * 30, [str(run) for run in range(30)]])
def test_without_jobs_that_can_be_compared_nothing_is_added(jobs):
    rng = np.random.default_rng(3)
    assert sample_size.inflation(rng.normal(0, 1, 30), jobs, (0.5,), rng=rng) == 1
