"""The search for the best maximum of each family's likelihood at each number of components.

Forward: k components start from clusters of the sample, from the fit with k - 1 (one component split, or one inserted
where the density is under-fitted), and from what the families before found. Backward: from the fit with k + 1, one
component left out, and from what all other families found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array
from analysis.mixture import starts
from analysis.mixture.families import FAMILIES, Axis, Family
from analysis.mixture.kernels import Kernels, best_kernels
from analysis.mixture.sample import Points, Sample, points_for

# EM steps of each start before they are compared; how many are then followed to their maximum, in each direction.
EM_STEPS = 3
FORWARD, BACKWARD = 4, 4
# Samples of more distinct values than this are searched by so many of them.
LONG = 2000


@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """The best maximum found for one family and number of components, on the kernel's axis."""

    theta: Array
    loglik: float
    converged: bool
    iterations: int
    floor: float
    sketch: Array


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """One family on one sample."""

    family: Family
    points: Points
    ground: starts.Ground


def search(sample: Sample, families: Sequence[str], components: int, floor: float) -> dict[tuple[str, int], Found]:
    """The best fits found, by family and number of components; no more components than distinct values.

    A long sample is searched by equally spaced order statistics; their solutions are then the starts for all runs.
    """
    kernels, most = best_kernels(), min(components, sample.n_distinct)
    if sample.n_distinct <= LONG:
        return _search(kernels, pose(sample, families, most, floor), most)
    thinned = sample.thinned(LONG)
    problems = pose(thinned, families, most, floor)
    found = _search(kernels, problems, most)
    for problem in problems:
        whole = points_for(sample, problem.family, floor)
        for k in range(1, most + 1):
            key = (problem.family.name, k)
            found[key] = _climb(kernels, problem.family, whole, [found[key].sketch[None]], target=-np.inf, finalists=1)
    return found


def follow(sample: Sample, starts_at: Mapping[tuple[str, int], Array], floor: float) -> dict[tuple[str, int], Found]:
    """The maximum that each sketch, (3, k), leads to on a sample; by family and number of components, as `search`.

    Nothing else is tried: for samples drawn from one that was searched.
    """
    kernels = best_kernels()
    points = {name: points_for(sample, FAMILIES[name], floor) for name in {name for name, _ in starts_at}}
    return {
        key: _climb(kernels, FAMILIES[key[0]], points[key[0]], [sketch[None]], target=-np.inf, finalists=1)
        for key, sketch in starts_at.items()
    }


def _search(kernels: Kernels, problems: Sequence[Problem], most: int) -> dict[tuple[str, int], Found]:
    found: dict[tuple[str, int], Found] = {}
    for k in range(1, most + 1):
        for problem in problems:
            found[problem.family.name, k] = _climb(
                kernels, problem.family, problem.points, _forward(problem, found, k), target=-np.inf, finalists=FORWARD
            )
    for k in range(most, 1, -1):
        for problem in problems:
            better = _backward(problem, found, k)
            if better:
                incumbent = found[problem.family.name, k]
                end = _climb(
                    kernels, problem.family, problem.points, better, target=incumbent.loglik, finalists=BACKWARD
                )
                found[problem.family.name, k] = max(incumbent, end, key=lambda one: one.loglik)
    return found


def pose(sample: Sample, families: Sequence[str], components: int, floor: float) -> list[Problem]:
    """The families' points; families of one base axis share its clusters and windows."""
    grounds: dict[Axis, starts.Ground] = {}
    problems = []
    for name in families:
        family = FAMILIES[name]
        points = points_for(sample, family, floor)
        axis = Axis.LOG if family.needs_positive else Axis.IDENTITY
        if axis not in grounds:
            y = axis.forward(sample.values / sample.unit)
            grounds[axis] = starts.survey(y, sample.counts, components, floor * sample.sd(axis))
        problems.append(Problem(family=family, points=points, ground=grounds[axis]))
    return problems


def _climb(
    kernels: Kernels, family: Family, points: Points, sketches: list[Array], *, target: float, finalists: int
) -> Found:
    """The highest maximum these starts lead to by EM and Newton; anything where none above `target` is in sight."""
    theta = starts.theta_of(family, np.concatenate(sketches), points.floor)
    theta, loglik = kernels.em(family.kernel, points, theta, EM_STEPS)
    ends = kernels.newton(family.kernel, points, kernels.ranked(theta, loglik, finalists), target)
    best = int(np.argmax(ends.loglik))
    return Found(
        theta=ends.theta[best],
        loglik=float(ends.loglik[best]),
        converged=bool(ends.converged[best]),
        iterations=EM_STEPS + int(ends.iterations[best]),
        floor=points.floor,
        sketch=starts.sketch_of(family, ends.theta[best]),
    )


def _forward(problem: Problem, found: dict[tuple[str, int], Found], k: int) -> list[Array]:
    """Sketches (s, 3, k) to start from, before anything with more components is known."""
    family, ground = problem.family, problem.ground
    sketches = [ground.clusters[k - 1][None]] if k <= len(ground.clusters) else []
    if k > 1:
        smaller = found[family.name, k - 1]
        sketches.append(starts.splits(smaller.sketch))
        sketches.append(starts.insertions(ground, smaller.sketch))
    return sketches + _of_others(family, found, k)


def _backward(problem: Problem, found: dict[tuple[str, int], Found], k: int) -> list[Array]:
    """Sketches from the fit with one component more, and from the other families."""
    larger = found.get((problem.family.name, k + 1))
    removals = [] if larger is None else [starts.removals(larger.sketch)]
    return removals + _of_others(problem.family, found, k)


def _of_others(family: Family, found: dict[tuple[str, int], Found], k: int) -> list[Array]:
    """What the other families found with k components, as sketches on this family's base axis."""
    others = [name for (name, size) in found if size == k and name != family.name]
    same = [found[name, k].sketch for name in others if FAMILIES[name].needs_positive == family.needs_positive]
    rest = [found[name, k].sketch for name in others if FAMILIES[name].needs_positive != family.needs_positive]
    translate = starts.to_log if family.needs_positive else starts.from_log
    return ([np.array(same)] if same else []) + ([translate(np.array(rest))] if rest else [])
