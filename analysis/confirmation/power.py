"""How likely a flag is to come back: draws from the first fit, judged by the same rule.

Draws are fitted with all families, for it is the best of them with one mode that a flag has to beat, but with no more
components than the fit has: a third of the time. A draw is judged by its dip p: where most of what is measured again
has several modes, its Benjamini-Hochberg value is hardly larger.
"""

from dataclasses import replace

import numpy as np

from analysis.mixture.fit import Fit
from analysis.mixture.options import Options
from analysis.mixture.selection import select
from analysis.modality.verdicts import verdict

TARGET = 0.8
DRAWS = 40
# Sizes that are tried; the last one is the largest that is proposed.
LADDER = (30, 40, 50, 65, 80, 100, 125, 150, 200, 250, 300, 400, 500, 650, 900)


def power(fit: Fit, n: int, *, options: Options, rng: np.random.Generator, draws: int = DRAWS) -> float:
    """Probability that n runs drawn from `fit` are judged multimodal; its standard error is below 0.08."""
    return sum(_found_again(fit, n, _cheap(options, fit), rng) for _ in range(draws)) / draws


def runs_for_power(
    fit: Fit, *, options: Options, rng: np.random.Generator, target: float = TARGET, draws: int = DRAWS
) -> int | None:
    """The smallest size of the ladder at which the modes of `fit` are found again with probability `target`.

    None where the largest does not suffice. Power is taken to grow with n, so that four sizes are tried, not fifteen.
    """
    sizes = [n for n in LADDER if n >= options.min_n]
    too_few, enough = -1, len(sizes)
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        reached = power(fit, sizes[middle], options=options, rng=rng, draws=draws) >= target
        too_few, enough = (too_few, middle) if reached else (middle, enough)
    return sizes[enough] if enough < len(sizes) else None


def _found_again(fit: Fit, n: int, options: Options, rng: np.random.Generator) -> bool:
    selection = select(fit.sample(n, rng), options=options)
    return verdict(selection, dip_q=selection.dip_p, options=options).kind == "multimodal"


def _cheap(options: Options, fit: Fit) -> Options:
    return replace(options, max_components=min(options.max_components, max(2, fit.components)))
