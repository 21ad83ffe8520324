"""Is a node equivalent to the others? Two one-sided tests (Schuirmann 1987), by intervals from a bootstrap of visits.

A test of difference answers another question: with few visits its silence says nothing, and with many it finds what
nobody minds. Equivalence has to be shown: the interval of the difference lies within a margin that was named before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from analysis.arrays import Array
from analysis.attribution.changes import Change, changes
from analysis.equivalence.scores import Scores
from analysis.errors import AnalysisError

MARGIN = 0.05  # as a share of what is usual
ALPHA = 0.05  # of each one-sided test
DRAWS = 2000
FEWEST_VISITS = 5

Standing = Literal["equivalent", "different", "undecided"]


@dataclass(frozen=True, kw_only=True)
class NodeFound:
    """One node beside the median of all others. Differences are shares: -0.08 is 8 % below them.

    Of two middle ones the nearer counts: where one of three nodes is slow, the other two agree. Of two nodes nobody can
    tell which it is: both are different.

    `different`: the interval at level 1 - 2 alpha / nodes lies outside the margin. `equivalent`: the interval
    at 1 - 2 alpha lies within it. `drift`: where its own level changes, by run in order of start.
    """

    node: str
    runs: int
    visits: int
    standing: Standing
    difference: float
    low: float  # of the interval at level 1 - 2 alpha
    high: float
    drift: tuple[Change, ...]
    drift_at: tuple[float, ...]  # when each change began, in seconds


def compare_nodes(
    scores: Scores, *, rng: np.random.Generator, margin: float = MARGIN, alpha: float = ALPHA
) -> tuple[NodeFound, ...]:
    """Each node beside the others, by name. With one node, or fewer than `FEWEST_VISITS` visits, nothing is decided."""
    if not 0 < margin < 1:
        raise AnalysisError(f"a margin is a share between 0 and 1, not {margin:g}")
    names = sorted(set(scores.nodes))
    visits = {name: scores.of_node(name).by_visit() for name in names}
    drawn = {name: _medians(of_node, rng) for name, of_node in visits.items()}
    return tuple(_found(scores, name, visits, drawn, rng=rng, margin=margin, alpha=alpha) for name in names)


def _found(
    scores: Scores,
    name: str,
    visits: Mapping[str, Array],
    drawn: Mapping[str, Array],
    *,
    rng: np.random.Generator,
    margin: float,
    alpha: float,
) -> NodeFound:
    mine = scores.of_node(name)
    others = [other for other in visits if other != name]
    drift = tuple(changes(mine.values, mine.visit_codes, rng))
    difference, low, high, standing = 0.0, -np.inf, np.inf, "undecided"
    if others:
        medians = np.array([[np.median(visits[other])] for other in others])
        difference = _share(_apart(np.median(visits[name], keepdims=True), medians)[0])
        apart = _apart(drawn[name], np.array([drawn[other] for other in others]))
        low, high = (_share(end) for end in np.quantile(apart, [alpha, 1 - alpha]))
        strict = [_share(end) for end in np.quantile(apart, [alpha / len(visits), 1 - alpha / len(visits)])]
        enough = min(len(visits[name]), *(len(visits[other]) for other in others)) >= FEWEST_VISITS
        standing = _standing((low, high), (strict[0], strict[1]), margin) if enough else "undecided"
    return NodeFound(
        node=name,
        runs=len(mine.values),
        visits=len(visits[name]),
        standing=standing,  # type: ignore[arg-type]  # one of the three words
        difference=difference,
        low=low,
        high=high,
        drift=drift,
        drift_at=tuple(float(mine.started_at[change.at]) for change in drift),
    )


def _apart(mine: Array, others: Array) -> Array:
    """Of each draw, (draws,): from the median of the others (others, draws); of two middle ones, from the nearer."""
    in_order = np.sort(others, axis=0)
    lower, upper = in_order[(len(others) - 1) // 2], in_order[len(others) // 2]
    return np.asarray(mine - np.where(np.abs(mine - lower) < np.abs(mine - upper), lower, upper))


def _standing(interval: tuple[float, float], strict: tuple[float, float], margin: float) -> Standing:
    if strict[0] > margin or strict[1] < -margin:
        return "different"
    return "equivalent" if -margin < interval[0] and interval[1] < margin else "undecided"


def _medians(visits: Array, rng: np.random.Generator) -> Array:
    """Medians of `DRAWS` draws of the visits with replacement, (DRAWS,)."""
    places = rng.integers(0, len(visits), (DRAWS, len(visits)))
    return np.asarray(np.median(visits[places], axis=1))


def _share(log_ratio: float) -> float:
    return float(np.expm1(log_ratio))
