"""How likely a flag is to come back: draws from the first fit, judged by the same rule.

Draws are fitted with all families, for it is the best of them with one mode that a flag has to beat, but with no more
components than the fit has: a third of the time. They are followed from the fits of the first sample, not searched for:
a quarter of what is left. A draw is judged by its dip p: where most of what is measured again has several modes, its
Benjamini-Hochberg value is hardly larger.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from analysis.mixture.fit import Fit
from analysis.mixture.options import Options
from analysis.mixture.selection import Selection, select_from
from analysis.modality.verdicts import verdict

TARGET = 0.8
DRAWS = 40
# Sizes that are tried; the last one is the largest that is proposed.
LADDER = (30, 40, 50, 65, 80, 100, 125, 150, 200, 250, 300, 400, 500, 650, 900)


def power(
    first: Selection,
    n: int,
    *,
    options: Options,
    rng: np.random.Generator,
    target: float = TARGET,
    draws: int = DRAWS,
) -> float:
    """Probability that n runs drawn from the best fit of `first` are judged multimodal.

    The share of at most `draws` draws: no more are made than decide whether it is below `target`. Its standard error is
    below 0.08 near the target, and at most 0.14. `first` holds its whole table.
    """
    needed = math.ceil(target * draws - 1e-9)
    table = _of_size(first, options)
    made = found = 0
    while found < needed and made - found <= draws - needed:
        found += _found_again(first, table, n, options, rng)
        made += 1
    return found / made


def runs_for_power(
    first: Selection, *, options: Options, rng: np.random.Generator, target: float = TARGET, draws: int = DRAWS
) -> int | None:
    """The smallest size of the ladder at which the modes of `first` are found again with probability `target`.

    None where the largest does not suffice. Power is taken to grow with n, so that four sizes are tried, not fifteen.
    """
    sizes = [n for n in LADDER if n >= options.min_n]
    too_few, enough = -1, len(sizes)
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        reached = power(first, sizes[middle], options=options, rng=rng, target=target, draws=draws) >= target
        too_few, enough = (too_few, middle) if reached else (middle, enough)
    return sizes[enough] if enough < len(sizes) else None


def _of_size(first: Selection, options: Options) -> Sequence[Fit]:
    """The fits that compete for a draw."""
    most = min(options.max_components, max(2, first.components))
    return [fit for fit in first.table if fit.components <= most and fit.family in options.families]


def _found_again(first: Selection, table: Sequence[Fit], n: int, options: Options, rng: np.random.Generator) -> bool:
    selection = select_from(first.best.sample(n, rng), table, options=options)
    return verdict(selection, dip_q=selection.dip_p, options=options).kind == "multimodal"
