"""Reorderings of runs under which nothing should change when a circumstance explains nothing."""

import numpy as np

from analysis.arrays import Indices


def shuffles(blocks: Indices, count: int, rng: np.random.Generator, *, strata: Indices | None = None) -> Indices:
    """`count` reorderings of n runs, (count, n): whole blocks change places, runs of a block stay together.

    Only blocks of the same size change places, and, with `strata` (n,), only within a stratum; then every block lies
    in one stratum. Blocks of one run each are the usual permutation.
    """
    outer = np.zeros_like(blocks) if strata is None else strata
    order = np.argsort(blocks, kind="stable")
    first = np.flatnonzero(np.diff(blocks[order], prepend=-1))
    size = np.diff(first, append=len(blocks))
    kind = np.stack([outer[order[first]], size])
    shuffled = np.tile(np.arange(len(blocks)), (count, 1))
    for stratum, length in np.unique(kind, axis=1).T:
        alike = np.flatnonzero((kind[0] == stratum) & (kind[1] == length))
        rows = order[first[alike][:, None] + np.arange(length)]
        drawn = rng.permuted(np.tile(np.arange(len(alike)), (count, 1)), axis=1)
        shuffled[:, rows.ravel()] = rows[drawn].reshape(count, -1)
    return shuffled
