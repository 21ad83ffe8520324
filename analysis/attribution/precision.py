"""Standard errors of quantiles that take the runs of a job for what they are: not independent."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array, Indices

RESAMPLES = 400


@dataclass(frozen=True, kw_only=True)
class QuantileError:
    """A quantile of the sample and its standard error, with jobs drawn (`by_job`) and with runs drawn (`by_run`)."""

    q: float
    value: float
    by_job: float
    by_run: float


def quantile_errors(
    values: Array, jobs: Indices, quantiles: Sequence[float], rng: np.random.Generator
) -> tuple[QuantileError, ...]:
    """Standard errors of the sample's quantiles by a bootstrap of whole jobs, beside that of single runs.

    `values` (n,) and the job of each run (n,). A bootstrap of runs takes the runs of a job for independent.
    """
    order = np.argsort(jobs, kind="stable")
    of_job = np.split(order, np.flatnonzero(np.diff(jobs[order])) + 1)
    found = {}
    for name, parts in (("by_job", of_job), ("by_run", [np.array([run]) for run in range(len(values))])):
        drawn = [
            np.quantile(
                values[np.concatenate([parts[part] for part in rng.integers(len(parts), size=len(parts))])], quantiles
            )
            for _ in range(RESAMPLES)
        ]
        found[name] = np.std(drawn, axis=0, ddof=1)
    return tuple(
        QuantileError(
            q=q,
            value=float(np.quantile(values, q)),
            by_job=float(found["by_job"][place]),
            by_run=float(found["by_run"][place]),
        )
        for place, q in enumerate(quantiles)
    )
