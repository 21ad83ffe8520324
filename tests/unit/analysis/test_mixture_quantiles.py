"""Quantiles and their standard errors: closed forms, the printed misprints, simulation."""

import numpy as np
import pytest
from scipy import stats

from analysis import mixture
from analysis.errors import AnalysisError, NoStandardErrorError
from analysis.mixture.families import NAMES
from analysis.mixture.quantiles import quantile_gradient, score_information

# The paper's example, with n = 1: sqrt(n) SE is then the SE.
PAPER = {"weights": (0.03977, 0.96023), "locations": (1.6023, -0.06634), "scales": (2.3462, 0.8376)}


def made(family="normal", n=1, at_floor=(False, False), **parameters):
    values = PAPER | parameters
    return mixture.Fit(family=family, loglik=0.0, n=n, converged=True, iterations=0, at_floor=at_floor, **values)


def positive(family, n=400):
    if family == "normal":
        return made(n=n, weights=(0.4, 0.6), locations=(4.0, 6.0), scales=(0.5, 0.7))
    if family == "gamma":
        return made("gamma", n=n, weights=(0.4, 0.6), locations=(60.0, 80.0), scales=(0.07, 0.08))
    return made(family, n=n, weights=(0.4, 0.6), locations=(1.4, 1.8), scales=(0.08, 0.09))


def test_the_papers_mixture_has_its_known_quantiles_and_standard_errors():
    fit = made()
    assert fit.quantile(0.1) == pytest.approx(-1.143912, abs=1e-6)
    assert fit.quantile(0.9) == pytest.approx(1.110574, abs=1e-6)
    assert fit.quantile_se(0.1) == pytest.approx(1.197729, abs=1e-6)
    assert fit.quantile_se(0.9) == pytest.approx(1.399227, abs=1e-6)
    assert fit.quantile_se(0.1) / fit.quantile(0.1) == pytest.approx(-1.047046, abs=1e-6)
    assert fit.quantile_se(0.9) / fit.quantile(0.9) == pytest.approx(1.259913, abs=1e-6)


def test_equation_a9_as_printed_gives_another_number():
    """It drops the k-th component: d x_q / d weight_j = -F_j / f."""
    fit = made()
    x = fit.quantile(0.9)
    printed = quantile_gradient(fit, x)
    printed[0] = -float(fit.component_cdf(x)[0]) / float(fit.pdf(x))
    se = np.sqrt(printed @ np.linalg.solve(score_information(fit), printed))
    assert se / x == pytest.approx(2.308656, abs=1e-6)


def test_one_normal_has_its_closed_form():
    fit = made(n=50, weights=(1.0,), locations=(3.0,), scales=(2.0,), at_floor=(False,))
    z = stats.norm.ppf(0.9)
    assert fit.quantile(0.9) == pytest.approx(3 + 2 * z)
    assert fit.quantile_se(0.9) == pytest.approx(2 * np.sqrt((1 + z**2 / 2) / 50))


@pytest.mark.parametrize("family", NAMES)
def test_the_order_of_components_does_not_matter(family):
    fit = positive(family)
    swapped = made(family, n=fit.n, **{name: getattr(fit, name)[::-1] for name in PAPER})
    for q in (0.1, 0.5, 0.9):
        assert swapped.quantile_se(q) == pytest.approx(fit.quantile_se(q), rel=1e-9)


def test_tiny_values_have_a_standard_error():
    fit = made("lognormal", weights=(1.0,), locations=(np.log(1e-298),), scales=(0.1,), at_floor=(False,), n=100)
    assert fit.quantile_se(0.5) == pytest.approx(1e-300, rel=1e-6)


@pytest.mark.parametrize("family", NAMES)
def test_a_model_never_knows_less_than_the_order_statistics(family):
    fit = positive(family)
    for q in (0.05, 0.1, 0.4, 0.5, 0.9, 0.99):
        nonparametric = np.sqrt(q * (1 - q) / fit.n) / float(fit.pdf(fit.quantile(q)))
        assert fit.quantile_se(q) <= nonparametric * (1 + 1e-6)


@pytest.mark.parametrize("family", NAMES)
def test_the_gradient_is_that_of_the_quantile(family):
    fit, q, step = positive(family), 0.3, 1e-6
    gradient = quantile_gradient(fit, fit.quantile(q))

    def moved(place, by):
        values = np.concatenate([fit.weights[:1], fit.locations, fit.scales])
        values[place] += by
        weights = (values[0], 1 - values[0])
        return made(family, weights=weights, locations=tuple(values[1:3]), scales=tuple(values[3:])).quantile(q)

    slopes = [(moved(i, step) - moved(i, -step)) / (2 * step) for i in range(5)]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-4, atol=1e-7)


def test_information_is_the_variance_of_the_score():
    """At the truth E[s s^T] = -E[Hessian]: for one normal, diag(1, 2) / sigma^2."""
    fit = made(weights=(1.0,), locations=(3.0,), scales=(2.0,), at_floor=(False,))
    np.testing.assert_allclose(score_information(fit), np.diag([0.25, 0.5]), atol=1e-9)


@pytest.mark.parametrize(
    ("fit", "reason"),
    [
        (made(at_floor=(True, False)), "as narrow as the floor"),
        (made(weights=(1e-5, 1 - 1e-5)), "near 0"),
        (made(locations=(0.0, 0.0), scales=(1.0, 1.0)), "singular"),
    ],
)
def test_standard_errors_are_refused_with_the_reason(fit, reason):
    with pytest.raises(NoStandardErrorError, match=reason):
        fit.quantile_se(0.5)


def test_a_quantile_lies_between_0_and_1():
    with pytest.raises(AnalysisError, match="0 < q < 1"):
        made().quantile(1.0)


@pytest.mark.parametrize("family", NAMES)
def test_quantiles_invert_the_distribution(family):
    fit = positive(family)
    for q in (1e-4, 0.1, 0.41, 0.5, 0.9999):
        assert float(fit.cdf(fit.quantile(q))) == pytest.approx(q, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("family", NAMES)
def test_standard_errors_agree_with_simulation(family):
    truth, rng = positive(family), np.random.default_rng(0)
    reached = {0.1: [], 0.5: [], 0.9: []}
    covered = dict.fromkeys(reached, 0)
    for _ in range(300):
        fit = mixture.fit(truth.sample(truth.n, rng), family, 2)
        for q, values in reached.items():
            values.append(fit.quantile(q))
            covered[q] += abs(values[-1] - truth.quantile(q)) <= 1.96 * fit.quantile_se(q)
    for q, values in reached.items():
        assert np.std(values) == pytest.approx(truth.quantile_se(q), rel=0.15)
        assert 0.9 <= covered[q] / 300 <= 0.985
