"""The fitting loops in NumPy: always available, vectorised over starts.

Notation, per component and point: z the standardised value, h the standard log-density, r the responsibility times
the count of the cell. theta has shape (starts, 3, k): weight, location, scale on the kernel's axis.
"""

import numpy as np

from analysis.arrays import Array, Flags
from analysis.mixture.families import HALF_LOG_TWO_PI, Kernel, gamma_terms
from analysis.mixture.kernels.port import (
    BEHIND,
    CLOSE,
    DAMPING_MAX,
    DAMPING_MIN,
    FARTHEST,
    HOPE,
    MET,
    NEWTON_GAIN,
    NEWTON_STEPS,
    PATIENCE,
    SMALLEST_WEIGHT,
    Optimum,
)
from analysis.mixture.sample import Points

name = "numpy"


def em(kernel: Kernel, points: Points, theta: Array, iterations: int) -> tuple[Array, Array]:
    """See `port.Kernels.em`."""
    loglik = np.full(len(theta), -np.inf)
    previous = theta
    for _ in range(iterations):
        ahead, moments = _expectation(kernel, points, theta)
        better = ahead > loglik
        if not np.any(better):
            return previous, loglik
        loglik = np.where(better, ahead, loglik)
        previous = np.where(better[:, None, None], theta, previous)
        theta = np.where(better[:, None, None], _maximisation(kernel, points, theta, moments), previous)
    return theta, loglik


def _standard(kernel: Kernel, z: Array) -> tuple[Array, Array, Array]:
    """h, h' and h'' of the location-scale kernels."""
    if kernel == Kernel.NORMAL:
        return -0.5 * z * z - HALF_LOG_TWO_PI, -z, np.full_like(z, -1.0)
    if kernel == Kernel.LOGISTIC:
        decay = np.exp(-np.abs(z))
        tangent = np.copysign((1 - decay) / (1 + decay), z)
        return -np.abs(z) - 2 * np.log1p(decay), -tangent, -0.5 * (1 - tangent * tangent)
    growth = np.exp(z)
    return z - growth, 1 - growth, -growth


def _standardise(kernel: Kernel, y: Array, theta: Array) -> Array:
    """z, shape (starts, k, m); the gamma's is not scaled."""
    distance = y - theta[:, 1, :, None]
    if kernel != Kernel.GAMMA:
        distance /= theta[:, 2, :, None]
    return np.clip(distance, -FARTHEST * 1e6, FARTHEST)


def _log_densities(kernel: Kernel, theta: Array, z: Array) -> tuple[Array, Array, Array]:
    """log(weight x density) on the kernel's axis, and the two arrays the moments are made of."""
    if kernel == Kernel.GAMMA:
        shape = theta[:, 2] ** -2
        growth = np.expm1(z)
        constant = np.log(theta[:, 0]) + gamma_terms(shape)[0]
        return shape[..., None] * (z - growth) + constant[..., None], growth, growth
    h, slope, curvature = _standard(kernel, z)
    return h + np.log(theta[:, 0] / theta[:, 2])[..., None], slope, curvature


def _responsibilities(points: Points, log_density: Array) -> tuple[Array, Array]:
    """Log-likelihoods (starts,) and r (starts, k, m), by log-sum-exp over the components and points of each cell."""
    weighted = log_density + points.log_weight
    top = np.max(weighted, axis=-2)
    if not points.single:
        cell_top = np.maximum.reduceat(top, points.first, axis=-1)
        top = np.repeat(cell_top, points.width, axis=-1)
    share = np.exp(weighted - top[..., None, :])
    total = np.sum(share, axis=-2)
    if not points.single:
        total = np.add.reduceat(total, points.first, axis=-1)
        top = cell_top
    loglik: Array = np.sum(points.counts * (np.log(total) + top), axis=-1)
    per_point = points.counts / total
    if not points.single:
        per_point = np.repeat(per_point, points.width, axis=-1)
    share *= per_point[..., None, :]
    return loglik, share


def _expectation(kernel: Kernel, points: Points, theta: Array) -> tuple[Array, Array]:
    """Log-likelihoods and the moments (starts, 6, k) that `_maximisation` needs."""
    z = _standardise(kernel, points.y, theta)
    log_density, slope, curvature = _log_densities(kernel, theta, z)
    loglik, r = _responsibilities(points, log_density)
    moments = np.zeros((len(theta), 6, theta.shape[2]))
    moments[:, 0] = np.sum(r, axis=-1)
    if kernel in {Kernel.NORMAL, Kernel.GAMMA}:
        moments[:, 1] = np.einsum("skm,skm->sk", r, z)
        moments[:, 2] = np.einsum("skm,skm->sk", r, slope if kernel == Kernel.GAMMA else z * z)
        return loglik, moments
    bent = r * curvature
    moments[:, 1] = np.einsum("skm,skm->sk", r, slope)
    moments[:, 2] = np.einsum("skm,skm,skm->sk", r, z, slope)
    moments[:, 3] = np.sum(bent, axis=-1)
    bent *= z
    moments[:, 4] = np.sum(bent, axis=-1)
    moments[:, 5] = np.einsum("skm,skm->sk", bent, z)
    return loglik, moments


def _maximisation(kernel: Kernel, points: Points, theta: Array, moments: Array) -> Array:
    """The next theta: exact for the normal, one Newton step on the expected log-likelihood for the others."""
    held = np.maximum(moments[:, 0], SMALLEST_WEIGHT)
    weight = held / np.sum(held, axis=1, keepdims=True)
    location, scale = theta[:, 1], theta[:, 2]
    if kernel == Kernel.NORMAL:
        shift = moments[:, 1] / held
        location, scale = location + scale * shift, scale * np.sqrt(np.maximum(moments[:, 2] / held - shift**2, 0.0))
    elif kernel == Kernel.GAMMA:
        shift = np.log1p(np.maximum(moments[:, 2] / held, -1 + 1e-15))
        location, scale = location + shift, _gamma_shape(shift - moments[:, 1] / held) ** -0.5
    else:
        location, scale = _concave_step(location, scale, held, moments)
    return np.stack([weight, location, np.maximum(scale, points.floor)], axis=1)


def _gamma_shape(gap: Array) -> Array:
    """The shape a with log a - digamma(a) = gap = log(mean) - mean(log): a close start and two Newton steps."""
    gap = np.maximum(gap, 1e-30)
    shape: Array = (3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)
    for _ in range(2):
        _, first, second = gamma_terms(shape)
        shape = shape / (1 + (first - gap) / (shape * second))
    return shape


def _concave_step(location: Array, scale: Array, held: Array, moments: Array) -> tuple[Array, Array]:
    """Newton's step on Q in z' = (1 + b) z - a, in which Q is concave for every log-concave h."""
    ga, gb = -moments[:, 1], held + moments[:, 2]
    haa, hab, hbb = moments[:, 3], -moments[:, 4], moments[:, 5] - held
    determinant = haa * hbb - hab * hab
    determinant = np.where(determinant > 0, determinant, np.inf)
    a = -(hbb * ga - hab * gb) / determinant
    b = -(haa * gb - hab * ga) / determinant
    stretch = np.clip(1 + b, 0.5, 2.0)
    shift = np.clip(a, -1.0, 1.0)
    return location + scale * shift / stretch, scale / stretch


def ranked(theta: Array, loglik: Array, finalists: int) -> Array:
    """See `port.Kernels.ranked`."""
    highest = theta[np.argsort(-loglik, kind="stable")]
    ordered = np.take_along_axis(highest, np.argsort(highest[:, 1], axis=1, kind="stable")[:, None], axis=2)
    chosen: list[int] = []
    for row, one in enumerate(ordered):
        others = ordered[chosen]
        apart = np.abs(others - one)
        apart[:, 1] /= one[2]
        apart[:, 2] /= one[2]
        if not np.any(np.all(apart < MET, axis=(1, 2))):
            chosen.append(row)
    return ordered[chosen[:finalists]]


def newton(kernel: Kernel, points: Points, theta: Array, target: float = -np.inf) -> Optimum:
    """See `port.Kernels.newton`."""
    ends = []
    for row in theta:
        ends.append(_newton(kernel, points, row, target))
        target = max(target, ends[-1][1])
    return Optimum(
        theta=np.array([end[0] for end in ends]),
        loglik=np.array([end[1] for end in ends]),
        converged=np.array([end[2] for end in ends]),
        iterations=np.array([end[3] for end in ends]),
    )


def _newton(kernel: Kernel, points: Points, theta: Array, target: float) -> tuple[Array, float, bool, int]:
    """Levenberg-Marquardt: the Hessian, plus damping times the information of the complete data."""
    damping = 0.0
    loglik, gradient, information, complete = _derivatives(kernel, points, theta)
    for iteration in range(NEWTON_STEPS):
        step, gain, damping = _damped_step(gradient, information, complete, damping)
        converged = gain < NEWTON_GAIN
        hopeless = damping == 0 and gain < CLOSE and loglik + HOPE * gain < target
        late = iteration >= PATIENCE and loglik + BEHIND < target
        if converged or hopeless or late or damping > DAMPING_MAX:
            return theta, loglik, converged, iteration
        proposal = _moved(kernel, theta, step, points.floor)
        ahead = _derivatives(kernel, points, proposal)
        if ahead[0] >= loglik:
            theta = proposal
            loglik, gradient, information, complete = ahead
            damping = damping / 10 if damping > DAMPING_MIN else 0.0
        else:
            damping = max(10 * damping, DAMPING_MIN)
    return theta, loglik, False, NEWTON_STEPS


def _damped_step(gradient: Array, information: Array, complete: Array, damping: float) -> tuple[Array, float, float]:
    """The step, the gain in log-likelihood it predicts, and the damping that made the matrix positive definite."""
    while True:
        try:
            factor = np.linalg.cholesky(information + np.diag(damping * complete))
        except np.linalg.LinAlgError:
            damping = max(10 * damping, DAMPING_MIN)
            continue
        half: Array = np.linalg.solve(factor, gradient)
        step: Array = np.linalg.solve(factor.T, half)
        return step, 0.5 * float(np.sum(half * half)), damping


def _moved(kernel: Kernel, theta: Array, step: Array, floor: float) -> Array:
    """theta after a step in (log weight, location / scale, log scale), at most a factor e in weights and scales."""
    k = theta.shape[1]
    bounded = step * min(1.0, 1.0 / max(float(np.max(np.abs(step))), 1e-300))
    weight = np.maximum(theta[0] * np.exp(bounded[:k]), SMALLEST_WEIGHT)
    scale = np.maximum(theta[2] * np.exp(bounded[2 * k :]), floor)
    return np.stack([weight / np.sum(weight), theta[1] + theta[2] * bounded[k : 2 * k], scale])


def _derivatives(kernel: Kernel, points: Points, theta: Array) -> tuple[float, Array, Array, Array]:
    """Log-likelihood, gradient, minus Hessian, and the diagonal of the complete-data information.

    In (log weight, location / scale, log scale) of each component. A scale at the floor that would shrink is held.
    """
    k = theta.shape[1]
    log_density, lu, ls, luu, lus, lss = _component_terms(kernel, points, theta)
    loglik, r = _responsibilities(points, log_density)
    held = np.sum(r, axis=-1)
    score = np.concatenate([r, r * lu, r * ls])
    gradient = np.sum(score, axis=-1)
    gradient[:k] -= points.n * theta[0]
    per_cell = score if points.single else np.add.reduceat(score, points.first, axis=-1)
    information = np.einsum("ac,bc->ab", per_cell / points.counts, per_cell)
    rows = np.arange(k)
    for a, b, values in (
        (0, 0, held),
        (0, 1, np.sum(score[k : 2 * k], axis=-1)),
        (0, 2, np.sum(score[2 * k :], axis=-1)),
        (1, 1, np.sum(r * (luu + lu * lu), axis=-1)),
        (1, 2, np.sum(r * (lus + lu * ls), axis=-1)),
        (2, 2, np.sum(r * (lss + ls * ls), axis=-1)),
    ):
        information[a * k + rows, b * k + rows] -= values
        if a != b:
            information[b * k + rows, a * k + rows] -= values
    # The weights sum to one: their multinomial term, and n on the direction in which the likelihood does not change.
    information[:k, :k] += points.n * (np.diag(theta[0]) - np.outer(theta[0], theta[0]) + 1.0)
    complete = np.concatenate([points.n * theta[0] + 1e-9, held + 1e-9, held + 1e-9])
    _hold_at_floor(gradient, information, complete, theta[2] <= points.floor)
    return float(loglik), gradient, information, complete


def _hold_at_floor(gradient: Array, information: Array, complete: Array, at_floor: Flags) -> None:
    """Take the scales at the floor, where the likelihood grows downwards, out of the step."""
    k = len(at_floor)
    for j in np.flatnonzero(at_floor & (gradient[2 * k :] <= 0)) + 2 * k:
        gradient[j] = 0.0
        information[j, :] = 0.0
        information[:, j] = 0.0
        information[j, j] = complete[j]


def _component_terms(kernel: Kernel, points: Points, theta: Array) -> tuple[Array, Array, Array, Array, Array, Array]:
    """log(weight x density), then its derivatives in u = location / scale and s = log scale: u, s, uu, us, ss."""
    z = _standardise(kernel, points.y, theta[None])[0]
    if kernel == Kernel.GAMMA:
        shape = theta[2, :, None] ** -2
        constant, first, second = gamma_terms(shape)
        growth = np.expm1(z)
        surplus = first + z - growth
        root = np.sqrt(shape)
        log_density = np.log(theta[0, :, None]) + constant + shape * (z - growth)
        ss = 4 * shape * (surplus + shape * second)
        return log_density, root * growth, -2 * shape * surplus, -1 - growth, -2 * root * growth, ss
    h, slope, curvature = _standard(kernel, z)
    log_density = h + np.log(theta[0] / theta[2])[:, None]
    leverage = z * slope
    bend = z * curvature
    return log_density, -slope, -leverage - 1, curvature, slope + bend, leverage + z * bend
