"""The fitting loops: both implementations, against slow independent ones and against each other."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from analysis.mixture.families import FAMILIES, NAMES
from analysis.mixture.kernels import array_kernels, port
from analysis.mixture.options import Options
from analysis.mixture.sample import points_for, read_sample

compiled_kernels = pytest.importorskip("analysis.mixture.kernels.compiled_kernels", reason="numba is not installed")
LOOPS = (array_kernels, compiled_kernels)
BOTH = pytest.mark.parametrize("kernels", LOOPS, ids=["numpy", "numba"])


def two_peaks(rng, n=150, digits=None):
    x = np.where(rng.random(n) < 0.4, rng.normal(1.0, 0.06, n), rng.normal(1.6, 0.2, n))
    return x if digits is None else np.round(x, digits)


def starts_for(points, k):
    """Components at quantiles of the points, all of one width."""
    location = np.quantile(points.y, (np.arange(k) + 0.5) / k)
    return np.stack([np.full(k, 1 / k), location, np.full(k, np.std(points.y) / k)])[None]


def problem(name, x):
    sample = read_sample(x, Options())
    return FAMILIES[name].kernel, points_for(sample, FAMILIES[name], 0.02)


@BOTH
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("digits", [None, 1], ids=["point", "interval"])
def test_em_never_decreases_the_likelihood(kernels, name, digits):
    for seed in range(5):
        kernel, points = problem(name, two_peaks(np.random.default_rng(seed), digits=digits))
        theta = starts_for(points, 4)
        path = [kernels.em(kernel, points, theta, steps)[1][0] for steps in range(1, 30)]
        assert np.min(np.diff(path)) >= 0
        assert path[-1] > path[0] + 1


@BOTH
def test_em_of_normals_is_the_textbooks(kernels):
    x = two_peaks(np.random.default_rng(3))
    kernel, points = problem("normal", x)
    theta = starts_for(points, 3)
    weight, mean, sd = theta[0]
    y = np.sort(x) / np.max(np.abs(x))
    for _ in range(20):
        parts = weight[:, None] * stats.norm(mean[:, None], sd[:, None]).pdf(y)
        r = parts / parts.sum(axis=0)
        weight, mean = r.mean(axis=1), (r @ y) / r.sum(axis=1)
        sd = np.sqrt((r * (y - mean[:, None]) ** 2).sum(axis=1) / r.sum(axis=1))
    np.testing.assert_allclose(kernels.em(kernel, points, theta, 20)[0][0], [weight, mean, sd], rtol=1e-9)


@BOTH
@pytest.mark.parametrize("name", NAMES)
def test_newton_ends_where_patient_em_ends(kernels, name):
    kernel, points = problem(name, two_peaks(np.random.default_rng(4)))
    theta = starts_for(points, 2)
    patient = kernels.em(kernel, points, theta, 3000)[1][0]
    end = kernels.newton(kernel, points, kernels.em(kernel, points, theta, 10)[0])
    assert end.converged[0]
    assert end.loglik[0] == pytest.approx(patient, abs=1e-6)
    assert end.iterations[0] < 15


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("digits", [None, 1], ids=["point", "interval"])
def test_gradient_and_hessian_are_those_of_the_likelihood(name, digits):
    kernel, points = problem(name, two_peaks(np.random.default_rng(5), digits=digits))
    theta = starts_for(points, 2)[0]
    _, gradient, information, _ = array_kernels._derivatives(kernel, points, theta)

    def moved(step):
        weight = theta[0] * np.exp(step[:2])
        place = [weight / weight.sum(), theta[1] + theta[2] * step[2:4], theta[2] * np.exp(step[4:])]
        return array_kernels._derivatives(kernel, points, np.stack(place))[0]

    h, unit = 1e-4, np.eye(6)
    slope = [(moved(h * e) - moved(-h * e)) / (2 * h) for e in unit]
    np.testing.assert_allclose(gradient, slope, atol=1e-3)
    bend = [
        [
            (moved(h * (a + b)) - moved(h * (a - b)) - moved(h * (b - a)) + moved(-h * (a + b))) / (4 * h * h)
            for a in unit
        ]
        for b in unit
    ]
    information[:2, :2] -= points.n  # the direction in which the weights change together
    np.testing.assert_allclose(-information, bend, atol=0.02 * points.n)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("digits", [None, 1], ids=["point", "interval"])
def test_compiled_and_array_loops_agree(name, digits):
    kernel, points = problem(name, two_peaks(np.random.default_rng(6), digits=digits))
    for k in (1, 2, 5):
        theta = starts_for(points, k)
        ends = [loops.newton(kernel, points, loops.em(kernel, points, theta, 4)[0]) for loops in LOOPS]
        assert ends[0].loglik[0] == pytest.approx(ends[1].loglik[0], rel=1e-9)
        assert ends[0].converged[0] == ends[1].converged[0]


def test_narrow_gammas_keep_their_digits():
    """A coefficient of variation of 1e-5 is a shape of 1e10, where log Gamma cancels."""
    x = 1e6 * (1 + 1e-5 * np.random.default_rng(7).standard_normal(100))
    kernel, points = problem("gamma", x)
    end = compiled_kernels.newton(kernel, points, compiled_kernels.em(kernel, points, starts_for(points, 1), 20)[0])
    normal = stats.norm(x.mean(), x.std()).logpdf(x).sum()
    assert end.loglik[0] - 100 * np.log(x.max()) == pytest.approx(normal, abs=1e-2)


def test_elementary_functions_are_right_to_the_last_digits():
    from analysis.mixture.kernels.elementary import fast_exp, fast_expm1, fast_log

    places = np.concatenate([np.linspace(-700, 700, 501), [0.0, 1e-9, -1e-9]])
    np.testing.assert_allclose([fast_exp(x) for x in places], np.exp(places), rtol=5e-16)
    np.testing.assert_allclose([fast_expm1(x) for x in places], np.expm1(places), rtol=5e-16)
    positive = np.exp(places[:-3])
    np.testing.assert_allclose([fast_log(x) for x in positive], np.log(positive), rtol=5e-16, atol=5e-16)


def test_the_compiled_cache_knows_its_sources():
    """numba does not see that what it imports changed; when this fails, set SOURCES to the value it names."""
    folder = Path(port.__file__).parent
    text = b"".join((folder / name).read_bytes() for name in compiled_kernels.CACHED[1:])
    assert hashlib.sha256(text).hexdigest()[:12] == compiled_kernels.SOURCES
