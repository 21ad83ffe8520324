"""Where not to trust predictions: the levels of factors at which configurations left out were predicted worst."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.prediction.evaluate import Error, Samples
from analysis.prediction.factors import Factor, Factors
from analysis.prediction.stack import BAND

FEWEST = 5
"""Left-out configurations of a level that is judged."""
WORSE = 1.3
"""Times the mean distance of all: worth a warning."""
OWN_DISTANCE = math.sqrt(math.pi / 2) * math.log(2)
"""The mean of the distribution of Kolmogorov: a sample of n runs is this over sqrt(n) from where it was drawn."""


@dataclass(frozen=True, kw_only=True)
class OfLevel:
    """How the configurations at one level were predicted when they were left out."""

    factor: str
    level: str
    ks: tuple[float, ...]
    """The distance of each."""
    covered: float
    """The share of medians in their 80 % bands."""
    at_edge: bool
    """The lowest or highest level of a number: whatever lies beyond is extrapolated."""
    doubt: str
    """Why not to trust it; empty where nothing speaks against it."""


def levels(samples: Samples, errors: Sequence[Error]) -> tuple[OfLevel, ...]:
    """Every level of every factor of which enough was left out, in the order of factors and levels."""
    factors = Factors.of(samples.names, samples.rows).varying
    return tuple(one for factor in factors for one in _of_factor(factor, samples, errors))


def edge_rows(samples: Samples) -> frozenset[int]:
    """Rows of samples at the lowest or highest level of some number."""
    factors = Factors.of(samples.names, samples.rows).varying
    return frozenset(
        place
        for place, row in enumerate(samples.rows)
        if any(factor.code(row[factor.place]) in _ends(factor) for factor in factors)
    )


def floor(samples: Samples) -> float:
    """The mean distance that a perfect prediction would have, for as many runs as there are."""
    return float(np.mean([OWN_DISTANCE / math.sqrt(np.size(values)) for values in samples.values]))


def _of_factor(factor: Factor, samples: Samples, errors: Sequence[Error]) -> list[OfLevel]:
    whole = float(np.mean([error.ks for error in errors]))
    groups: dict[str, list[Error]] = {}
    for error in errors:
        groups.setdefault(samples.rows[error.row][factor.place], []).append(error)
    found = []
    for level in sorted(groups, key=factor.code):
        group = groups[level]
        if len(group) < FEWEST:
            continue
        ks, covered = tuple(error.ks for error in group), float(np.mean([error.covered for error in group]))
        found.append(
            OfLevel(
                factor=factor.name,
                level=level,
                ks=ks,
                covered=covered,
                at_edge=factor.code(level) in _ends(factor),
                doubt=_doubt(float(np.mean(ks)) / whole, covered, len(group)),
            )
        )
    return found


def _ends(factor: Factor) -> tuple[float, ...]:
    return (min(factor.levels), max(factor.levels)) if factor.is_number else ()


def _doubt(times: float, covered: float, left_out: int) -> str:
    reasons = [
        f"{times:.1f} times the distance of all" if times > WORSE else "",
        # Three standard errors of a share below 80 %.
        "its bands are too narrow" if covered < BAND - 3 * (BAND * (1 - BAND) / left_out) ** 0.5 else "",
    ]
    return "; ".join(reason for reason in reasons if reason)
