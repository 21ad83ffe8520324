"""The mixtures that a sample size rests on: the selected one, and the others that the pilot leaves possible."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from analysis.arrays import Array
from analysis.errors import BadSampleError
from analysis.mixture import Fit, Options, fit, select
from analysis.mixture.selection import Selection, ranked

NEGLIGIBLE = 1e-3


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """Fits of one sample with the one that is selected; a known model is its only candidate."""

    best: Fit
    table: tuple[Fit, ...]
    options: Options

    @classmethod
    def known(cls, model: Fit) -> "Candidates":
        """A model that was not fitted."""
        return cls(best=model, table=(model,), options=Options())

    @classmethod
    def of(cls, selection: Selection, options: Options) -> "Candidates":
        """All fits of a selection."""
        return cls(best=selection.best, table=selection.table, options=options)

    @classmethod
    def among(cls, table: tuple[Fit, ...], options: Options) -> "Candidates":
        """The best of these fits is selected; the best BIC where a small sample supports none of them."""
        supported = ranked(table, options)
        best = table[supported[0]] if supported else min(table, key=lambda one: one.bic)
        return cls(best=best, table=table, options=options)

    @cached_property
    def possible(self) -> tuple[Fit, ...]:
        """The fits with a share of the BIC weight that counts; the selected one among them."""
        kept = self.weights_of(self.table) > NEGLIGIBLE
        return tuple(one for one, keep in zip(self.table, kept, strict=True) if keep or one is self.best)

    @staticmethod
    def weights_of(table: Sequence[Fit]) -> Array:
        """exp(-BIC / 2), normalised to sum to 1."""
        bic = np.array([one.bic for one in table])
        weight: Array = np.exp(-0.5 * (bic - np.min(bic)))
        return weight / np.sum(weight)


def choose(x: ArrayLike, options: Options, components: int | None = None) -> Candidates:
    """Fit x, shape (n,), and select by BIC; among fits with exactly so many `components` where they are forced.

    Raises `BadSampleError`.
    """
    if components is None:
        return Candidates.of(select(x, options=options), options)
    # Who forces a number of components does not want to hear that the sample is small.
    forced = replace(options, max_components=components, small_n=0)
    table = _with_components(x, forced, components)
    return Candidates.among(table, forced)


def _with_components(x: ArrayLike, options: Options, components: int) -> tuple[Fit, ...]:
    if len(options.families) == 1:
        return (fit(x, options.families[0], components, options=options),)
    found = tuple(one for one in select(x, options=options).table if one.components == components)
    if not found:
        raise BadSampleError(f"{components} components need as many distinct values; there are {np.unique(x).size}")
    return found
