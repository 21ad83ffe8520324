"""What a repeated value stands for: the cell of values that would have been printed as the same number.

IOzone with one thread computes throughput = size / (elapsed - 1 us) from two clock readings: elapsed lies on multiples
of 2**-22 s (a double near 1.7e9 s), while the clock ticks in microseconds. Such a value stands for elapsed +- 1 tick.
Everywhere else a cell reaches half-way to the neighbouring values.
"""

from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array

TICK_S = 1e-6
GRID_PER_S = 2.0**22
PRINTED = 0.005  # throughputs are printed with two decimals
SIZES_KB = 2.0 ** np.arange(2, 25)


@dataclass(frozen=True, kw_only=True, eq=False)
class Cells:
    """Lower and upper end of the cell of each distinct value, in the units of x."""

    lower: Array
    upper: Array

    @property
    def resolution(self) -> float:
        """Median width of a cell, in the units of x."""
        return float(np.median(self.upper - self.lower))


def find_cells(distinct: Array) -> Cells:
    """Cells of sorted distinct values: by IOzone's clock where they lie on its grid, else between the neighbours."""
    if distinct[0] > 0 and (size_kb := clock_size_kb(distinct)) is not None:
        return clock_cells(distinct, size_kb)
    return neighbour_cells(distinct)


def clock_size_kb(distinct: Array) -> float | None:
    """The file size for which all elapsed times lie on the clock's grid; None when there is none.

    `distinct` are throughputs in kB/s. Sizes are tried as powers of two, as IOzone uses.
    """
    if len(distinct) < 4:
        return None
    work_s = SIZES_KB[:, None] / distinct
    with np.errstate(over="ignore", invalid="ignore"):  # sizes far from those of these throughputs
        place = (work_s + TICK_S) * GRID_PER_S
        off_grid = np.abs(place - np.rint(place))
        tolerance = 1e-3 + 1.1 * place * PRINTED / distinct
    resolved = np.max(tolerance, axis=1) < 0.1
    fits = np.flatnonzero(resolved & np.all(off_grid <= tolerance, axis=1))
    return float(SIZES_KB[fits[0]]) if len(fits) else None


def clock_cells(distinct: Array, size_kb: float) -> Cells:
    """Elapsed time +- 1 tick, at most as far as half-way to zero time."""
    work_s = size_kb / distinct
    return Cells(lower=size_kb / (work_s + TICK_S), upper=size_kb / np.maximum(work_s - TICK_S, 0.5 * work_s))


def neighbour_cells(distinct: Array) -> Cells:
    """Half the distance to each neighbour; the outermost cells are symmetric. Positive values keep positive cells."""
    half = 0.5 * np.diff(distinct)
    lower = distinct - np.concatenate([half[:1], half])
    upper = distinct + np.concatenate([half, half[-1:]])
    if distinct[0] > 0:
        lower[0] = max(lower[0], 0.5 * distinct[0])
    return Cells(lower=lower, upper=upper)
