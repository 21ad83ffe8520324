"""What differs where a rank is critical: each quantity alone, against what is usual in its setting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array, Flags
from analysis.criticality import scaling
from analysis.criticality.scores import auc
from analysis.criticality.trace import Samples, Trace

LEVEL = 0.05
"""Of all quantities together (Bonferroni)."""


@dataclass(frozen=True, kw_only=True)
class Teller:
    """One quantity alone."""

    name: str
    samples: int
    auc: float
    """How often a critical sample has more of it than another one, a tie being half."""
    low: float
    """With `high`, the 95 % interval over collectives."""
    high: float
    tells: bool
    """Whether it is further from one half than chance explains."""


def tellers(trace: Trace, samples: Samples, critical: Flags, rows: Flags) -> list[Teller]:
    """Those that were known of most samples in the (K,) `rows`, the most telling first.

    Each is scaled by median and deviation of all samples of its setting, so that settings can be pooled.
    """
    from scipy import stats  # as in `scores`

    labelled = samples.chosen(rows[samples.collective])
    known = np.mean(~np.isnan(labelled.values), axis=0) > 0.5 if len(labelled.values) else np.array([], dtype=bool)
    y = critical[labelled.collective, labelled.rank]
    x = _scaled(trace, samples)[rows[samples.collective]]
    limit = stats.norm.isf(LEVEL / 2 / max(1, int(np.sum(known))))
    found = []
    for place in np.flatnonzero(known).tolist():
        told = ~np.isnan(labelled.values[:, place])
        one = auc(y[told], x[told, place], labelled.collective[told])
        if one is not None and np.isfinite(one.error):
            tells = bool(abs(one.value - 0.5) > limit * one.error)
            name = samples.names[place]
            found.append(
                Teller(name=name, samples=int(np.sum(told)), auc=one.value, low=one.low, high=one.high, tells=tells)
            )
    return sorted(found, key=lambda one: (not one.tells, -abs(one.auc - 0.5)))


def _scaled(trace: Trace, samples: Samples) -> Array:
    x = np.zeros(samples.values.shape)
    setting = trace.setting_of[samples.collective]
    for number in np.unique(setting):
        rows = setting == number
        x[rows] = scaling.of_values(samples.values[rows], decorrelate=False).plain(samples.values[rows])
    return x
