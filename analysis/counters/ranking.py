"""Which counter to work on first: those of the model by what is lost without them, then those it would gain from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.counters.mummi import Model


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """A counter's place for one target."""

    rank: int
    counter: str
    in_model: bool
    coefficient: float
    share: float
    unique: float
    spearman: float
    p: float
    loading: float
    component: int


def ranking(model: Model) -> tuple[Ranked, ...]:
    """Every counter, from 1."""
    by_name = {term.counter: term for term in model.terms}
    chosen = model.chosen
    order = [model.counters.index(name) for name in by_name]
    order += sorted(
        (k for k in range(len(model.counters)) if model.counters[k] not in by_name),
        key=lambda k: (-model.gains[k], -abs(chosen.spearman[k])),
    )
    found = []
    for rank, k in enumerate(order, start=1):
        term = by_name.get(model.counters[k])
        found.append(
            Ranked(
                rank=rank,
                counter=model.counters[k],
                in_model=term is not None,
                coefficient=0.0 if term is None else term.coefficient,
                share=0.0 if term is None else term.share,
                unique=0.0 if term is None else term.unique,
                spearman=float(chosen.spearman[k]),
                p=float(chosen.p[k]),
                loading=float(chosen.loading[k]),
                component=chosen.component[k],
            )
        )
    return tuple(found)


def combined(rankings: Sequence[Sequence[Ranked]]) -> tuple[str, ...]:
    """One order for several targets: in how many models a counter is, then its mean rank."""
    ranks: dict[str, list[int]] = {}
    models: dict[str, int] = {}
    for one in rankings:
        for place in one:
            ranks.setdefault(place.counter, []).append(place.rank)
            models[place.counter] = models.get(place.counter, 0) + place.in_model
    return tuple(sorted(ranks, key=lambda name: (-models[name], float(np.mean(ranks[name])))))
