"""The fitting loops compiled by numba: the formulas and stops of `array_kernels`, one start at a time.

The arguments of every loop are the fields of `Points` (y, log_weight, first, counts, floor). Arrays named r, z, slope,
curvature are (k, m) work space. The inner loops have no branches, so that they become SIMD.
"""

# ruff: noqa: PLR0917 - numba takes arrays, not the values that hold them

import hashlib
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import llvmlite.binding  # type: ignore[import-untyped]
import numba
import numpy as np
from numba import njit

from analysis.arrays import Array, Indices
from analysis.mixture.families import Kernel
from analysis.mixture.kernels.compiled_expectation import GAMMA, NORMAL, REORDER, expectation, gamma_terms
from analysis.mixture.kernels.port import (
    BEHIND,
    CLOSE,
    DAMPING_MAX,
    DAMPING_MIN,
    HOPE,
    MET,
    NEWTON_GAIN,
    NEWTON_STEPS,
    PATIENCE,
    SMALLEST_WEIGHT,
    Optimum,
)
from analysis.mixture.sample import Points

name = "numba"

# numba's cache knows when this file changes, but not when what it imports does: a test keeps this digest of the other
# files current, and with it the cache. Only the three entries are cached, with all they call.
SOURCES = "cc1f55d598bc"
CACHED = ("compiled_kernels.py", "compiled_expectation.py", "elementary.py", "port.py")


def prepare() -> None:
    """Have the loops compiled, and cached, by a process of its own, unless that was done before.

    A process that compiles links functions differently from one that loads them from the cache: the last digits of
    its results would differ from those of every other process.
    """
    folder = Path(str(_em.stats.cache_path))
    sources = b"".join((Path(__file__).parent / file).read_bytes() for file in CACHED)
    machine = f"{numba.__version__} {sys.version} {llvmlite.binding.get_host_cpu_name()}"
    done = folder / f"compiled-{hashlib.sha256(sources + machine.encode()).hexdigest()[:16]}"
    if done.exists():
        return
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = f"from {__name__} import compile_all; compile_all()"
    child = subprocess.run([sys.executable, "-c", command], check=False, env=environment)
    if child.returncode == 0:
        with suppress(OSError):  # a folder that cannot be written: the loops are compiled in every process
            done.touch()


def compile_all() -> None:
    """Call every loop once; the types of the arguments are always the same."""
    y = np.linspace(1.0, 2.0, 8)
    zero, each, one = np.zeros(8), np.arange(8), np.ones(8)
    theta = np.array([[[1.0], [1.5], [0.3]]])
    data = (0, y, zero, each, one, 0.01)
    _em(*data, theta, 1)
    _newton(*data, _ranked(theta, np.zeros(1), 1), -np.inf)


def em(kernel: Kernel, points: Points, theta: Array, iterations: int) -> tuple[Array, Array]:
    """See `port.Kernels.em`."""
    theta = np.ascontiguousarray(theta)
    return _em(int(kernel), *_arrays(points), theta, iterations)  # type: ignore[no-any-return]  # numba is untyped


def ranked(theta: Array, loglik: Array, finalists: int) -> Array:
    """See `port.Kernels.ranked`."""
    return _ranked(theta, loglik, finalists)  # type: ignore[no-any-return]  # numba is untyped


def newton(kernel: Kernel, points: Points, theta: Array, target: float = -np.inf) -> Optimum:
    """See `port.Kernels.newton`."""
    ends = _newton(int(kernel), *_arrays(points), np.ascontiguousarray(theta), target)
    return Optimum(theta=ends[0], loglik=ends[1], converged=ends[2], iterations=ends[3])


def _arrays(points: Points) -> tuple[Array, Array, Indices, Array, float]:
    return points.y, points.log_weight, points.first, points.counts, points.floor


@njit(cache=True, error_model="numpy")
def _em(kernel, y, log_weight, first, counts, floor, starts, iterations):  # type: ignore[no-untyped-def]
    rows, _, k = starts.shape
    work = np.empty((5, k, y.shape[0]))
    best, loglik = starts.copy(), np.empty(rows)
    moments = np.empty((6, k))
    for row in range(rows):
        theta = best[row]
        loglik[row] = -np.inf
        previous = theta.copy()
        for _ in range(iterations):
            ahead = expectation(kernel, y, log_weight, first, counts, theta, work)
            if not ahead > loglik[row]:
                theta[:] = previous
                break
            loglik[row] = ahead
            previous[:] = theta
            _moments(kernel, work, moments)
            _maximisation(kernel, previous, moments, floor, theta)
    return best, loglik


@njit(error_model="numpy", fastmath=REORDER)
def _moments(kernel, work, moments):  # type: ignore[no-untyped-def]
    """See `array_kernels._expectation`."""
    r, z, slope, curvature = work[0], work[1], work[2], work[3]
    for j in range(r.shape[0]):
        held = first = second = 0.0
        if kernel == NORMAL:
            for i in range(r.shape[1]):
                held += r[j, i]
                first += r[j, i] * z[j, i]
                second += r[j, i] * z[j, i] * z[j, i]
        elif kernel == GAMMA:
            for i in range(r.shape[1]):
                held += r[j, i]
                first += r[j, i] * z[j, i]
                second += r[j, i] * slope[j, i]
        else:
            third = fourth = fifth = 0.0
            for i in range(r.shape[1]):
                bent = r[j, i] * curvature[j, i]
                held += r[j, i]
                first += r[j, i] * slope[j, i]
                second += r[j, i] * z[j, i] * slope[j, i]
                third += bent
                fourth += bent * z[j, i]
                fifth += bent * z[j, i] * z[j, i]
            moments[3, j], moments[4, j], moments[5, j] = third, fourth, fifth
        moments[0, j], moments[1, j], moments[2, j] = held, first, second


@njit(error_model="numpy")
def _maximisation(kernel, theta, moments, floor, proposal):  # type: ignore[no-untyped-def]
    k = theta.shape[1]
    total = 0.0
    for j in range(k):
        total += max(moments[0, j], SMALLEST_WEIGHT)
    for j in range(k):
        held = max(moments[0, j], SMALLEST_WEIGHT)
        location, scale = theta[1, j], theta[2, j]
        if kernel == NORMAL:
            shift = moments[1, j] / held
            location += scale * shift
            scale *= np.sqrt(max(moments[2, j] / held - shift * shift, 0.0))
        elif kernel == GAMMA:
            shift = np.log1p(max(moments[2, j] / held, -1 + 1e-15))
            location += shift
            scale = _gamma_shape(shift - moments[1, j] / held) ** -0.5
        else:
            location, scale = _concave_step(location, scale, held, moments[:, j])
        proposal[0, j], proposal[1, j], proposal[2, j] = held / total, location, max(scale, floor)


@njit(error_model="numpy")
def _concave_step(location, scale, held, moments):  # type: ignore[no-untyped-def]
    ga, gb = -moments[1], held + moments[2]
    haa, hab, hbb = moments[3], -moments[4], moments[5] - held
    determinant = haa * hbb - hab * hab
    if not determinant > 0:
        return location, scale
    stretch = min(max(1 - (haa * gb - hab * ga) / determinant, 0.5), 2.0)
    shift = min(max(-(hbb * ga - hab * gb) / determinant, -1.0), 1.0)
    return location + scale * shift / stretch, scale / stretch


@njit(error_model="numpy")
def _gamma_shape(gap):  # type: ignore[no-untyped-def]
    gap = max(gap, 1e-30)
    shape = (3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)
    for _ in range(2):
        _, first, second = gamma_terms(shape)
        shape = shape / (1 + (first - gap) / (shape * second))
    return shape


@njit(cache=True, error_model="numpy")
def _ranked(theta, loglik, finalists):  # type: ignore[no-untyped-def]
    rows, _, k = theta.shape
    for row in range(rows):
        _sort_components(theta[row])
    left = loglik.copy()
    chosen = np.empty((finalists, 3, k))
    count = 0
    for _ in range(rows):
        best = np.argmax(left)
        left[best] = -np.inf
        fresh = True
        for other in range(count):
            fresh = fresh and not _met(chosen[other], theta[best])
        if fresh:
            chosen[count] = theta[best]
            count += 1
        if count == finalists:
            break
    return chosen[:count]


@njit(error_model="numpy")
def _sort_components(one):  # type: ignore[no-untyped-def]
    """By location, in place."""
    for j in range(1, one.shape[1]):
        i = j
        while i > 0 and one[1, i] < one[1, i - 1]:
            for parameter in range(3):
                one[parameter, i], one[parameter, i - 1] = one[parameter, i - 1], one[parameter, i]
            i -= 1


@njit(error_model="numpy")
def _met(one, other):  # type: ignore[no-untyped-def]
    for j in range(one.shape[1]):
        unit = other[2, j]
        if not (
            abs(one[0, j] - other[0, j]) < MET
            and abs(one[1, j] - other[1, j]) < MET * unit
            and abs(one[2, j] - other[2, j]) < MET * unit
        ):
            return False
    return True


@njit(cache=True, error_model="numpy")
def _newton(kernel, y, log_weight, first, counts, floor, starts, target):  # type: ignore[no-untyped-def]
    """See `array_kernels._newton`. One function, although long: each further level is compiled once more."""
    rows, _, k = starts.shape
    size = 3 * k
    data = (y, log_weight, first, counts, floor)
    work, score = np.empty((5, k, y.shape[0])), np.empty((size, y.shape[0]))
    gradient, information, complete = np.empty((2, size)), np.empty((2, size, size)), np.empty((2, size))
    factor, step, proposal = np.empty((size, size)), np.empty(size), np.empty((3, k))
    best, loglik = starts.copy(), np.empty(rows)
    converged, iterations = np.zeros(rows, dtype=np.bool_), np.full(rows, NEWTON_STEPS)
    for row in range(rows):
        damping = 0.0
        now = 0  # which of the two sets of derivatives is that of best[row]
        loglik[row] = _derivatives(kernel, data, best[row], work, score, gradient[0], information[0], complete[0])
        for iteration in range(NEWTON_STEPS):
            while not _factorised(information[now], complete[now], damping, factor):
                damping = max(10 * damping, DAMPING_MIN)
            gain = _solved(factor, gradient[now], step)
            converged[row] = gain < NEWTON_GAIN
            hopeless = damping == 0 and gain < CLOSE and loglik[row] + HOPE * gain < target
            late = iteration >= PATIENCE and loglik[row] + BEHIND < target
            if converged[row] or hopeless or late or damping > DAMPING_MAX:
                iterations[row] = iteration
                break
            _move(best[row], step, floor, proposal)
            other = 1 - now
            ahead = _derivatives(
                kernel, data, proposal, work, score, gradient[other], information[other], complete[other]
            )
            if ahead >= loglik[row]:
                best[row], loglik[row], now = proposal, ahead, other
                damping = damping / 10 if damping > DAMPING_MIN else 0.0
            else:
                damping = max(10 * damping, DAMPING_MIN)
        target = max(target, loglik[row])
    return best, loglik, converged, iterations


@njit(error_model="numpy")
def _factorised(information, complete, damping, factor):  # type: ignore[no-untyped-def]
    """Cholesky factor of information + damping x complete; False when that is not positive definite."""
    size = information.shape[0]
    for a in range(size):
        for b in range(a + 1):
            left = information[a, b] + (damping * complete[a] if a == b else 0.0)
            for c in range(b):
                left -= factor[a, c] * factor[b, c]
            if a != b:
                factor[a, b] = left / factor[b, b]
            elif left > 0:
                factor[a, a] = np.sqrt(left)
            else:
                return False
    return True


@njit(error_model="numpy")
def _solved(factor, gradient, step):  # type: ignore[no-untyped-def]
    """The step, and the gain in log-likelihood that it predicts."""
    size = gradient.shape[0]
    gain = 0.0
    for a in range(size):
        left = gradient[a]
        for b in range(a):
            left -= factor[a, b] * step[b]
        step[a] = left / factor[a, a]
        gain += 0.5 * step[a] * step[a]
    for a in range(size - 1, -1, -1):
        left = step[a]
        for b in range(a + 1, size):
            left -= factor[b, a] * step[b]
        step[a] = left / factor[a, a]
    return gain


@njit(error_model="numpy")
def _move(theta, step, floor, proposal):  # type: ignore[no-untyped-def]
    k = theta.shape[1]
    bound = min(1.0, 1.0 / max(np.max(np.abs(step)), 1e-300))
    total = 0.0
    for j in range(k):
        proposal[0, j] = max(theta[0, j] * np.exp(bound * step[j]), SMALLEST_WEIGHT)
        proposal[1, j] = theta[1, j] + theta[2, j] * bound * step[k + j]
        proposal[2, j] = max(theta[2, j] * np.exp(bound * step[2 * k + j]), floor)
        total += proposal[0, j]
    for j in range(k):
        proposal[0, j] /= total


@njit(error_model="numpy")
def _derivatives(kernel, data, theta, work, score, gradient, information, complete):  # type: ignore[no-untyped-def]
    """Fills gradient, minus Hessian and complete-data information; returns the log-likelihood."""
    y, log_weight, first, counts, floor = data
    k = theta.shape[1]
    n = np.sum(counts)
    loglik = expectation(kernel, y, log_weight, first, counts, theta, work)
    information[:] = 0.0
    for j in range(k):
        held, u, s, uu, us, ss = _score_rows(kernel, theta[2, j], work, j, k, score)
        gradient[j], gradient[k + j], gradient[2 * k + j] = held - n * theta[0, j], u, s
        information[j, j] = -held
        information[k + j, j] = -gradient[k + j]
        information[2 * k + j, j] = -gradient[2 * k + j]
        information[k + j, k + j], information[2 * k + j, k + j], information[2 * k + j, 2 * k + j] = -uu, -us, -ss
        complete[j], complete[k + j], complete[2 * k + j] = n * theta[0, j] + 1e-9, held + 1e-9, held + 1e-9
    _add_outer_products(score, first, counts, information)
    for a in range(k):
        for b in range(a + 1):
            information[a, b] += n * ((theta[0, a] if a == b else 0.0) - theta[0, a] * theta[0, b] + 1.0)
    for j in range(2 * k, 3 * k):
        if theta[2, j - 2 * k] <= floor and gradient[j] <= 0:
            gradient[j] = 0.0
            information[j, :j] = 0.0
            information[j:, j] = 0.0
            information[j, j] = complete[j]
    return loglik


@njit(error_model="numpy", fastmath=REORDER)
def _score_rows(kernel, scale, work, j, k, score):  # type: ignore[no-untyped-def]
    """Rows j, k + j, 2 k + j of the score; returns the sums of r, of the other two rows, and of r (second
    derivative + product of firsts) for uu, us, ss."""
    r, z, slope, curvature = work[0, j], work[1, j], work[2, j], work[3, j]
    held = u = s = uu = us = ss = 0.0
    if kernel == GAMMA:
        shape = scale**-2.0
        root = 1.0 / scale
        _, first, second = gamma_terms(shape)
        for i in range(r.shape[0]):
            growth = slope[i]
            surplus = first + z[i] - growth
            by_u, by_s = root * growth, -2.0 * shape * surplus
            held += r[i]
            u += r[i] * by_u
            s += r[i] * by_s
            uu += r[i] * (by_u * by_u - 1.0 - growth)
            us += r[i] * (by_u * by_s - 2.0 * root * growth)
            ss += r[i] * (by_s * by_s + 4.0 * shape * (surplus + shape * second))
            score[j, i], score[k + j, i], score[2 * k + j, i] = r[i], r[i] * by_u, r[i] * by_s
        return held, u, s, uu, us, ss
    for i in range(r.shape[0]):
        leverage, bend = z[i] * slope[i], z[i] * curvature[i]
        by_u, by_s = -slope[i], -leverage - 1.0
        held += r[i]
        u += r[i] * by_u
        s += r[i] * by_s
        uu += r[i] * (by_u * by_u + curvature[i])
        us += r[i] * (by_u * by_s + slope[i] + bend)
        ss += r[i] * (by_s * by_s + leverage + z[i] * bend)
        score[j, i], score[k + j, i], score[2 * k + j, i] = r[i], r[i] * by_u, r[i] * by_s
    return held, u, s, uu, us, ss


@njit(error_model="numpy", fastmath=REORDER)
def _add_outer_products(score, first, counts, information):  # type: ignore[no-untyped-def]
    """Adds the sum over cells of score x score / count to the lower triangle; score is summed within its cells."""
    cells = first.shape[0]
    m = score.shape[1]
    if cells < m:
        for a in range(score.shape[0]):
            for c in range(cells):
                end = first[c + 1] if c + 1 < cells else m
                held = 0.0
                for i in range(first[c], end):
                    held += score[a, i]
                score[a, c] = held
    divided = np.empty(cells)
    for a in range(score.shape[0]):
        for c in range(cells):
            divided[c] = score[a, c] / counts[c]
        # Three rows at a time; what this adds above the diagonal is not read.
        for b in range(0, a + 1, 3):
            one = two = three = 0.0
            for c in range(cells):
                one += divided[c] * score[b, c]
                two += divided[c] * score[b + 1, c]
                three += divided[c] * score[b + 2, c]
            information[a, b] += one
            information[a, b + 1] += two
            information[a, b + 2] += three
