"""Samples drawn anew: the bootstrap over whole configurations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.arrays import Indices
from analysis.counters.samples import Samples


def resampled(samples: Samples, groups: Indices, count: int, rng: np.random.Generator) -> Iterator[Samples]:
    """So many draws with replacement of as many configurations as there are; `groups` numbers them."""
    places = [np.flatnonzero(groups == one) for one in np.unique(groups)]
    for _ in range(count):
        chosen = rng.integers(len(places), size=len(places))
        yield samples.only(np.concatenate([places[k] for k in chosen]))
