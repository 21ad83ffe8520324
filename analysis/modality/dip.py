"""Hartigan's dip test, made valid for tied values, and its false-discovery control."""

from collections.abc import Sequence

import diptest  # type: ignore[import-untyped]
import numpy as np
from scipy.stats import false_discovery_control

from analysis.arrays import Array

DRAWS = 21
FEWEST, MOST = 4, 72_000  # below, the test is not defined; beyond, its table ends


def dip_p(values: Array, counts: Array, lower: Array, upper: Array, rng: np.random.Generator) -> float:
    """Median p-value over 21 draws in which each of the n values is spread evenly over its cell.

    The test takes the steps of a rounded sample for modes; spread over their cells, the values have none. `values`,
    `lower`, `upper` are (d,) distinct values and their cells, `counts` (d,) how often each occurs.
    """
    times = counts.astype(np.int64)
    lowest, width = np.repeat(lower, times), np.repeat(upper - lower, times)
    return float(np.median([_dip_p(lowest + width * rng.random(len(width))) for _ in range(DRAWS)]))


def dip_p_continuous(values: Array, counts: Array) -> float:
    """The p-value of a sample without meaningful ties."""
    return _dip_p(np.repeat(values, counts.astype(np.int64)))


def dip_q_values(dip_p: Sequence[float]) -> list[float]:
    """Benjamini-Hochberg values of the dip tests of one call, in the order given."""
    return [float(q) for q in false_discovery_control(dip_p)] if len(dip_p) > 0 else []


def _dip_p(values: Array) -> float:
    if len(values) < FEWEST:
        return 1.0
    if len(values) > MOST:
        values = np.sort(values)[np.linspace(0, len(values) - 1, MOST).astype(np.int64)]
    return float(diptest.diptest(np.ascontiguousarray(values))[1])
