"""How many times as many runs a target asks for where the runs of a job are alike."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from analysis.attribution.dependence import intraclass
from analysis.attribution.precision import quantile_errors
from analysis.attribution.runs import codes


def inflation(x: ArrayLike, jobs: Sequence[str], quantiles: Sequence[float], *, rng: np.random.Generator) -> float:
    """Of the runs x, shape (n,), with their jobs: 1 where the interval of their intraclass correlation holds 0.

    Else the square of how many times a bootstrap of jobs gives the standard error of a quantile that one of runs gives,
    of the quantile where it is most; at least 1. It holds for more jobs of the same size, not for larger ones.
    """
    values = np.asarray(x, dtype=np.float64)
    groups = codes(jobs)[0]
    if len(set(jobs)) < 2 or np.ptp(values) == 0:
        return 1.0
    alike = intraclass(rankdata(values), groups)
    if alike is None or not alike.excludes_zero:
        return 1.0
    errors = quantile_errors(values, groups, quantiles, rng)
    return max(1.0, *((one.by_job / one.by_run) ** 2 for one in errors if one.by_run > 0))
