"""Every family is what scipy says it is, and its one-component fit is the maximum of its likelihood."""

import numpy as np
import pytest
from scipy import optimize, stats

from analysis import mixture
from analysis.mixture.families import FAMILIES, NAMES

LOCATION, SCALE = 2.0, 0.3
SCIPY = {
    "normal": stats.norm(LOCATION, SCALE),
    "gamma": stats.gamma(LOCATION, scale=SCALE),
    "weibull": stats.weibull_min(1 / SCALE, scale=np.exp(LOCATION)),
    "lognormal": stats.lognorm(SCALE, scale=np.exp(LOCATION)),
    "loglogistic": stats.fisk(1 / SCALE, scale=np.exp(LOCATION)),
    "frechet": stats.invweibull(1 / SCALE, scale=np.exp(LOCATION)),
}
PARAMETERS = (np.array(LOCATION), np.array(SCALE))
Q = np.array([0.001, 0.1, 0.5, 0.9, 0.999])


def draw(name, n, rng):
    return FAMILIES[name].quantile(rng.random(n), *PARAMETERS)


@pytest.mark.parametrize("name", NAMES)
def test_density_distribution_and_quantiles_are_scipys(name):
    x = SCIPY[name].ppf(Q)
    family = FAMILIES[name]
    np.testing.assert_allclose(family.logpdf(x, *PARAMETERS), SCIPY[name].logpdf(x), rtol=1e-10)
    np.testing.assert_allclose(family.cdf(x, *PARAMETERS), Q, rtol=1e-9)
    np.testing.assert_allclose(family.quantile(Q, *PARAMETERS), x, rtol=1e-9)
    np.testing.assert_allclose(family.mean(*PARAMETERS), SCIPY[name].mean(), rtol=1e-10)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "normal"])
def test_nothing_lies_below_zero(name):
    x = np.array([-1.0, 0.0])
    assert np.all(FAMILIES[name].logpdf(x, *PARAMETERS) == -np.inf)
    assert np.all(FAMILIES[name].cdf(x, *PARAMETERS) == 0)


@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_those_of_the_functions(name):
    family, x, step = FAMILIES[name], SCIPY[name].ppf(Q), 1e-5
    for place, (score, slope) in enumerate(
        zip(family.score(x, *PARAMETERS), family.cdf_gradient(x, *PARAMETERS), strict=True)
    ):
        up, down = ([p + sign * step * (i == place) for i, p in enumerate(PARAMETERS)] for sign in (1, -1))
        np.testing.assert_allclose(score, (family.logpdf(x, *up) - family.logpdf(x, *down)) / (2 * step), rtol=1e-5)
        np.testing.assert_allclose(
            slope, (family.cdf(x, *up) - family.cdf(x, *down)) / (2 * step), rtol=1e-5, atol=1e-9
        )


@pytest.mark.parametrize("name", NAMES)
def test_kernel_parameters_and_units_come_back(name):
    family = FAMILIES[name]
    location, scale = family.from_kernel(*family.to_kernel(*PARAMETERS, 7.0), 7.0)
    np.testing.assert_allclose([location, scale], PARAMETERS, rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_one_component_is_the_maximum_that_a_general_optimiser_finds(name):
    x = draw(name, 200, np.random.default_rng(1))
    found = mixture.fit(x, name, 1)
    family = FAMILIES[name]

    def minus_loglik(p):
        return -float(np.sum(family.logpdf(x, np.array(p[0]), np.exp(p[1]))))

    options = {"xatol": 1e-9, "fatol": 1e-10, "maxiter": 4000}
    best = optimize.minimize(minus_loglik, [LOCATION, np.log(SCALE)], method="Nelder-Mead", options=options)
    assert found.loglik == pytest.approx(-best.fun, abs=1e-7)
    assert (found.locations[0], found.scales[0]) == pytest.approx((best.x[0], np.exp(best.x[1])), rel=1e-4)


def test_the_normal_has_its_closed_form():
    x = np.random.default_rng(2).normal(5, 2, 100)
    found = mixture.fit(x, "normal", 1)
    assert found.locations[0] == pytest.approx(x.mean(), rel=1e-12)
    assert found.scales[0] == pytest.approx(x.std(), rel=1e-9)
    assert found.loglik == pytest.approx(stats.norm(x.mean(), x.std()).logpdf(x).sum(), rel=1e-12)
