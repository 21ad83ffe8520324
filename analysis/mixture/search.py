"""The search for the best maximum of each family's likelihood at each number of components.

Forward: k components start from clusters of the sample and from the fit with k - 1, one component split or one
inserted where the density is under-fitted. Then across: the solutions of the other families are starts too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array, Indices
from analysis.mixture import starts
from analysis.mixture.families import FAMILIES, Family
from analysis.mixture.kernels import Kernels, best_kernels
from analysis.mixture.sample import Points, Sample, points_for

FIRST_STEPS, MORE_STEPS = 6, 10
KEPT, FINISHED = 4, 2


@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """The best maximum found for one family and number of components, on the kernel's axis."""

    theta: Array
    loglik: float
    converged: bool
    iterations: int
    floor: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """One family on one sample."""

    family: Family
    points: Points
    y: Array
    counts: Array
    cuts: Sequence[Indices]


def search(sample: Sample, families: Sequence[str], components: int, floor: float) -> dict[tuple[str, int], Found]:
    """The best fits found, by family and number of components; no more components than distinct values."""
    kernels = best_kernels()
    found: dict[tuple[str, int], Found] = {}
    for name in families:
        problem = pose(sample, FAMILIES[name], components, floor)
        for k in range(1, min(components, sample.n_distinct) + 1):
            found[name, k] = climb(kernels, problem, _forward_starts(problem, k, found.get((name, k - 1))))
    return found


def pose(sample: Sample, family: Family, components: int, floor: float) -> Problem:
    """Points and clusters of a family's axis."""
    y = family.axis.forward(sample.values / sample.unit)
    order = np.argsort(y)
    y, counts = y[order], sample.counts[order]
    points = points_for(sample, family, floor)
    return Problem(family=family, points=points, y=y, counts=counts, cuts=starts.kmeans_cuts(y, counts, components))


def climb(kernels: Kernels, problem: Problem, theta: Array) -> Found:
    """Short EM from every start, longer EM from the better ones, Newton from the best; the highest end."""
    kernel, points = problem.family.kernel, problem.points
    theta, loglik = kernels.em(kernel, points, theta, FIRST_STEPS)
    theta, loglik = kernels.em(kernel, points, _highest(theta, loglik, KEPT), MORE_STEPS)
    ends = kernels.newton(kernel, points, _highest(theta, loglik, FINISHED))
    best = int(np.argmax(ends.loglik))
    return Found(
        theta=ends.theta[best],
        loglik=float(ends.loglik[best]),
        converged=bool(ends.converged[best]),
        iterations=FIRST_STEPS + MORE_STEPS + int(ends.iterations[best]),
        floor=points.floor,
    )


def _highest(theta: Array, loglik: Array, count: int) -> Array:
    return theta[np.argsort(-loglik, kind="stable")[:count]]


def _forward_starts(problem: Problem, k: int, smaller: Found | None) -> Array:
    kernel, floor = problem.family.kernel, problem.points.floor
    rows = [
        starts.from_cuts(kernel, problem.y, problem.counts, cuts, floor)
        for cuts in (problem.cuts[k - 1], starts.quantile_cuts(problem.counts, k))
        if len(cuts) == k
    ]
    if smaller is not None:
        rows.extend(starts.splits(smaller.theta, floor))
    return np.array(rows)
