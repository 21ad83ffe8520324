"""Which ranks were critical: equation 1 of the criticality models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array, Flags
from analysis.criticality.trace import Trace
from analysis.errors import BadOptionsError


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A rank is critical at a collective if its slack is below a share of the imbalance. Raises `BadOptionsError`."""

    share: float = 0.25
    bound_s: float = 0.010
    """From this imbalance on, a collective is learnt from."""
    evaluated_s: float = 0.005
    """From this imbalance on, predictions are compared with labels."""

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise BadOptionsError(f"the share of the imbalance is above 0 and at most 1, not {self.share:g}")
        if not min(self.evaluated_s, self.bound_s) >= 0:
            raise BadOptionsError("the bounds of the imbalance are at least 0 s")


def critical(trace: Trace, rule: Rule) -> Flags:
    """(K, R) whether S_rk < share I_k; False where a rank took no part and where there is no imbalance."""
    with np.errstate(invalid="ignore"):
        labels: Flags = trace.slack_s < rule.share * trace.imbalance_s[:, None]
    return labels


def reaches(imbalance_s: Array, bound_s: float) -> Flags:
    """(K,) whether a collective has labels: its imbalance is above 0 and at least the bound."""
    with np.errstate(invalid="ignore"):
        found: Flags = (imbalance_s >= bound_s) & (imbalance_s > 0)
    return found
