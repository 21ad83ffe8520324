"""When each rank reached each collective, and what was measured on the way there."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from analysis.arrays import Array, Flags, Indices
from analysis.errors import BadSampleError


@dataclass(frozen=True, kw_only=True)
class Trace:
    """Arrivals of R ranks at K collectives, in the order of time within a setting. Raises `BadSampleError`.

    A collective belongs to one setting (an application, or a configuration). Where a rank took no part, its arrival
    is nan.
    """

    settings: tuple[str, ...]
    collectives: tuple[str, ...]
    ranks: tuple[str, ...]
    setting_of: Indices
    """(K,) the setting of each collective."""
    arrival_s: Array
    """(K, R)."""
    is_slack: bool = False
    """Whether only slacks were told: arrivals are then -slack, and how long a period lasted is not known."""
    starts_together: bool = False
    """Whether all ranks start each collective at 0 s, as the nodes of a round do; else when the one before ended."""

    def __post_init__(self) -> None:
        if self.arrival_s.shape != (len(self.collectives), len(self.ranks)):
            raise BadSampleError("arrivals have one row a collective and one column a rank")
        if len(self.ranks) < 2 or not np.any(np.sum(~np.isnan(self.arrival_s), axis=1) > 1):
            raise BadSampleError("no collective is reached by two ranks or more: there is no slack to compare")

    @property
    def slack_s(self) -> Array:
        """(K, R) S_rk: how long before the last rank each one was there; nan where it took no part."""
        slack: Array = self.released_s[:, None] - self.arrival_s
        return slack

    @property
    def released_s(self) -> Array:
        """(K,) when the last rank reached each collective."""
        return _largest(self.arrival_s)

    @property
    def imbalance_s(self) -> Array:
        """(K,) I_k = max_r S_rk; nan where nobody took part."""
        return _largest(-self.arrival_s) + self.released_s

    @property
    def period_s(self) -> Array:
        """(K, R) from the release of the collective before to the arrival; nan for the first, and for slacks."""
        period = np.full(self.arrival_s.shape, np.nan)
        if self.is_slack:
            return period
        if self.starts_together:
            return self.arrival_s
        for rows in self.by_setting():
            period[rows[1:]] = self.arrival_s[rows[1:]] - self.released_s[rows[:-1], None]
        return period

    def by_setting(self) -> list[Indices]:
        """The collectives of each setting, in the order of time."""
        return [np.flatnonzero(self.setting_of == number) for number in range(len(self.settings))]


@dataclass(frozen=True, kw_only=True)
class Samples:
    """Counters that ranks read on their way to a collective: n samples, any number for one rank and collective."""

    names: tuple[str, ...]
    values: Array
    """(n, d)."""
    collective: Indices
    rank: Indices
    taken_s: Array | None = None
    """(n,) when, on the clock of the arrivals; None: not known."""

    def only(self, names: tuple[str, ...]) -> Samples:
        """Some of the counters, in this order."""
        places = [self.names.index(name) for name in names]
        return replace(self, names=names, values=self.values[:, places])

    def chosen(self, rows: Flags | Indices) -> Samples:
        """Some of them."""
        return Samples(
            names=self.names,
            values=self.values[rows],
            collective=self.collective[rows],
            rank=self.rank[rows],
            taken_s=None if self.taken_s is None else self.taken_s[rows],
        )


def _largest(values: Array) -> Array:
    """The largest of each row; nan in a row of nothing but nan."""
    filled = np.where(np.isnan(values), -np.inf, values)
    largest = np.max(filled, axis=1)
    return np.where(np.isneginf(largest), np.nan, largest)
