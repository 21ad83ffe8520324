"""A checked sample, and the points at which a family's density is evaluated.

Point likelihood: one point per distinct value. Interval likelihood: every distinct value stands for a cell, and the
probability of the cell is the integral of the density over it, by Gauss-Legendre quadrature fine enough for the
narrowest component that the floor allows. Both are the same sum: log of a weighted sum of densities, per cell.
"""

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import roots_legendre

from analysis.arrays import Array, Indices
from analysis.errors import BadSampleError
from analysis.mixture.families import Axis, Family, Kernel
from analysis.mixture.options import Options
from analysis.mixture.resolution import Cells, find_cells

# Points per cell, and per smallest sigma of its width: the mass of a component at the floor is then right to 1e-8.
# exp(-exp(z)) falls off more steeply than the other densities (docs/method.md).
MIN_POINTS, POINTS_PER_SIGMA, POINTS_PER_STEEP_SIGMA = 3, 1.7, 3.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Sample:
    """Sorted distinct values with their counts, in the units of x."""

    values: Array
    counts: Array
    n: int
    cells: Cells | None

    @property
    def n_distinct(self) -> int:
        return len(self.values)

    @property
    def likelihood(self) -> str:
        return "point" if self.cells is None else "interval"

    @cached_property
    def unit(self) -> float:
        """The positive scale that x is divided by while fitting, for conditioning only."""
        return float(np.max(np.abs(self.values)))

    @property
    def positive(self) -> bool:
        return bool(self.values[0] > 0)

    def thinned(self, size: int) -> Self:
        """`size` equally spaced order statistics, the smallest and the largest among them, as points."""
        ranks = np.linspace(0, self.n - 1, size).astype(np.int64)
        values = self.values[np.searchsorted(np.cumsum(self.counts), ranks, side="right")]
        distinct, counts = np.unique(values, return_counts=True)
        return replace(self, values=distinct, counts=counts.astype(np.float64), n=size, cells=None)

    def mean(self, axis: Axis = Axis.IDENTITY) -> float:
        """Mean of x / unit on an axis."""
        return float(np.sum(self.counts * axis.forward(self.values / self.unit)) / self.n)

    def sd(self, axis: Axis = Axis.IDENTITY) -> float:
        """Standard deviation (dividing by n) of x / unit on an axis."""
        deviation = axis.forward(self.values / self.unit) - self.mean(axis)
        return float(np.sqrt(np.sum(self.counts * deviation**2) / self.n))


@dataclass(frozen=True, kw_only=True, eq=False)
class Points:
    """What a kernel sees of a sample: (m,) places on its axis with log-weights, in (c,) cells with counts."""

    y: Array
    log_weight: Array
    first: Indices  # index of the first point of each cell
    counts: Array
    n: float
    floor: float  # smallest scale of a component

    @property
    def single(self) -> bool:
        """Whether every cell has one point (the point likelihood)."""
        return len(self.first) == len(self.y)

    @cached_property
    def width(self) -> Indices:
        """Number of points of each cell."""
        return np.diff(self.first, append=len(self.y))


def read_sample(x: ArrayLike, options: Options) -> Sample:
    """Check x, shape (n,), and choose its likelihood. Raises `BadSampleError`."""
    values = np.asarray(x, dtype=np.float64)
    if values.ndim != 1:
        raise BadSampleError(f"a sample is a list of numbers; this one has {values.ndim} dimensions")
    if values.size < 2:
        raise BadSampleError(f"a sample needs at least 2 values; this one has {values.size}")
    if not np.all(np.isfinite(values)):
        place = int(np.flatnonzero(~np.isfinite(values))[0])
        raise BadSampleError(f"value {place + 1} of the sample is {values[place]}: only finite numbers can be fitted")
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) < 2:
        raise BadSampleError(f"all {values.size} values are {distinct[0]:g}: nothing varies, so nothing can be fitted")
    tied = options.likelihood == "interval" or (
        options.likelihood == "auto" and len(distinct) < options.distinct_share * values.size
    )
    cells = find_cells(distinct) if tied else None
    return Sample(values=distinct, counts=counts.astype(np.float64), n=values.size, cells=cells)


def floor_for(sample: Sample, family: Family, share: float) -> float:
    """The smallest scale of a component on the kernel's axis: share C of the standard deviation."""
    if family.kernel is Kernel.GAMMA:
        return share * sample.sd() / sample.mean()
    return share * sample.sd(family.axis)


def points_for(sample: Sample, family: Family, share: float) -> Points:
    """The points of a family's kernel; likelihoods over them are in x / unit."""
    floor = floor_for(sample, family, share)
    if sample.cells is not None:
        return _cell_points(sample, sample.cells, family, floor)
    scaled = sample.values / sample.unit
    log_weight = -np.log(scaled) if family.needs_positive else np.zeros_like(scaled)
    return Points(
        y=family.axis.forward(scaled),
        log_weight=log_weight,
        first=np.arange(len(scaled), dtype=np.int64),
        counts=sample.counts,
        n=float(sample.n),
        floor=floor,
    )


def _cell_points(sample: Sample, cells: Cells, family: Family, floor: float) -> Points:
    lower, upper = cells.lower / sample.unit, cells.upper / sample.unit
    ends = np.sort([family.axis.forward(lower), family.axis.forward(upper)], axis=0)
    half = 0.5 * (ends[1] - ends[0])
    per_sigma = POINTS_PER_STEEP_SIGMA if family.kernel is Kernel.SMALLEST_EXTREME else POINTS_PER_SIGMA
    nodes = MIN_POINTS + np.ceil(per_sigma * 2 * half / floor).astype(np.int64)
    rules = [_legendre(int(m)) for m in nodes]
    place = np.concatenate([rule[0] for rule in rules])
    weight = np.concatenate([rule[1] for rule in rules])
    # mass / width: the weights of a cell integrate over the axis and are divided by the width in x.
    share = np.repeat(half / (upper - lower), nodes)
    return Points(
        y=np.repeat(0.5 * (ends[0] + ends[1]), nodes) + np.repeat(half, nodes) * place,
        log_weight=np.log(weight * share),
        first=np.concatenate([[0], np.cumsum(nodes)[:-1]]).astype(np.int64),
        counts=sample.counts,
        n=float(sample.n),
        floor=floor,
    )


@cache
def _legendre(nodes: int) -> tuple[Array, Array]:
    place, weight = roots_legendre(nodes)  # five times as fast as NumPy's for the many points of a wide cell
    return place, weight
