"""Samples of counters: what one configuration did, as rates, with its frequency and its targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analysis.arrays import Array, Flags, Indices
from analysis.counters.errors import NoSuchColumnError, TooFewSamplesError

FEWEST = 12
"""Samples that a model asks for."""
MISSING_SHARE = 0.1
"""A counter that more samples miss than this is left out; otherwise the samples that miss it are."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """One entry a sample in every column; rates are counters divided by total cycles, where these are known."""

    labels: Mapping[str, tuple[str, ...]]
    rates: Mapping[str, Array]
    frequency_ghz: Array | None
    targets: Mapping[str, Array]
    """NaN where a sample was not measured."""
    per_cycle: bool = True
    notes: tuple[str, ...] = ()
    """What was done to get from rows to samples, in sentences."""

    @property
    def n(self) -> int:
        """The number of samples."""
        return len(next(iter(self.targets.values())))

    def target(self, name: str) -> Array:
        """Raises NoSuchColumnError."""
        if name not in self.targets:
            raise NoSuchColumnError(f"no target is named {name!r}; there are {', '.join(self.targets) or 'none'}")
        return self.targets[name]

    def matrix(self, names: Sequence[str]) -> Array:
        """The named rates, a column each."""
        return np.column_stack([self.rates[name] for name in names]) if names else np.empty((self.n, 0))

    def only(self, chosen: Flags | Indices) -> Samples:
        """The chosen samples, in their order."""
        places = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen
        return replace(
            self,
            labels={name: tuple(column[k] for k in places) for name, column in self.labels.items()},
            rates={name: column[places] for name, column in self.rates.items()},
            frequency_ghz=None if self.frequency_ghz is None else self.frequency_ghz[places],
            targets={name: column[places] for name, column in self.targets.items()},
        )

    def usable(self, target: str) -> Samples:
        """Those with a finite, positive target and all rates; rates that vary. Raises TooFewSamplesError.

        A target of 0 or less is no runtime and no power: an error rate is not defined for it.
        """
        y = self.target(target)
        rates, notes = _kept(self.rates, self.notes)
        complete = np.isfinite(y) & (y > 0)
        for column in rates.values():
            complete &= np.isfinite(column)
        if self.frequency_ghz is not None:
            complete &= np.isfinite(self.frequency_ghz)
        if complete.sum() < FEWEST:
            raise TooFewSamplesError(
                f"{int(complete.sum())} samples have {target} above 0 and all counters; a model asks for {FEWEST}"
            )
        left = int((~complete).sum())
        if left:
            notes = (*notes, f"{left} samples without {target} above 0, or without some counter, are left out")
        found = replace(self, rates=rates, notes=notes).only(complete)
        varying = {name: column for name, column in found.rates.items() if np.ptp(column) > 0}
        return replace(found, rates=varying)

    def groups(self, names: Sequence[str]) -> Indices:
        """A number for each sample: equal where all the named labels are."""
        missing = [name for name in names if name not in self.labels]
        if missing:
            raise NoSuchColumnError(f"no label is named {missing[0]!r}; there are {', '.join(self.labels) or 'none'}")
        keys = list(zip(*(self.labels[name] for name in names), strict=True)) if names else [()] * self.n
        numbers = {key: k for k, key in enumerate(dict.fromkeys(keys))}
        return np.array([numbers[key] for key in keys])


def _kept(rates: Mapping[str, Array], notes: tuple[str, ...]) -> tuple[dict[str, Array], tuple[str, ...]]:
    kept = {name: column for name, column in rates.items() if np.mean(~np.isfinite(column)) <= MISSING_SHARE}
    gone = [name for name in rates if name not in kept]
    if gone:
        notes = (*notes, f"counters that many samples miss are left out: {', '.join(gone)}")
    return kept, notes
