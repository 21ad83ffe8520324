"""Samples with labels: what is learnt from, and what predictions are compared with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array, Flags, Indices
from analysis.criticality import history, scaling
from analysis.criticality.labels import Rule, critical, reaches
from analysis.criticality.trace import Samples, Trace
from analysis.errors import BadSampleError

WINDOW_S = 0.005
"""The paper's window: what is read in it becomes one prediction, held until the next collective."""
OWN_TIME = "own_time_s"


@dataclass(frozen=True, kw_only=True)
class Examples:
    """n samples; several of one rank and collective share a cell."""

    counters: tuple[str, ...]
    """Measured by the rank itself; standardised by setting."""
    histories: tuple[str, ...]
    """Known from earlier labelled rounds."""
    x: Array
    """(n, counters + histories)."""
    collective: Indices
    rank: Indices
    setting: Indices
    critical: Flags
    imbalance_s: Array
    excluded: int
    """(Rank, collective) periods shorter than the window: no prediction could be made in time."""
    excluded_samples: int
    """Samples outside the window of their period."""

    @property
    def features(self) -> tuple[str, ...]:
        return self.counters + self.histories

    def labelled(self, bound_s: float) -> Flags:
        """(n,) samples of collectives whose imbalance reaches the bound."""
        return reaches(self.imbalance_s, bound_s)


def prepare(
    trace: Trace,
    samples: Samples | None,
    rule: Rule,
    *,
    window_s: float = WINDOW_S,
    with_history: bool = False,
    with_own_time: bool = False,
    drift: int = 0,
) -> Examples:
    """Join counters, history and labels. Without samples there is one a rank and collective.

    With a `drift`, the mean of so many samples of the same setting around each one is taken off its counters first:
    for ranks that are runs of one machine, one after the other, what changes slowly is no difference between ranks.

    Raises `BadSampleError` where there is nothing to learn from, or own times are wanted and only slacks are known.
    """
    found = samples if samples is not None and samples.names else _one_a_cell(trace)
    found, excluded, outside = _windowed(trace, found, window_s)
    if with_own_time:
        found = _with_own_time(trace, found)
    if not found.names and not with_history:
        raise BadSampleError("there is no counter to learn from: name counters, or let earlier rounds tell")
    if len(found.collective) == 0:
        raise BadSampleError("no sample lies in the window of a period long enough for one")
    labels, imbalance_s = critical(trace, rule), trace.imbalance_s
    x = _without_drift(trace, found, drift) if drift > 1 else found.values
    if with_history:
        told = history.of_trace(trace, labels, reaches(imbalance_s, rule.evaluated_s))
        x = np.column_stack([x, told[found.collective, found.rank]])
    return Examples(
        counters=found.names,
        histories=history.NAMES if with_history else (),
        x=x,
        collective=found.collective,
        rank=found.rank,
        setting=trace.setting_of[found.collective],
        critical=labels[found.collective, found.rank],
        imbalance_s=imbalance_s[found.collective],
        excluded=excluded,
        excluded_samples=outside,
    )


def _without_drift(trace: Trace, samples: Samples, window: int) -> Array:
    x = np.empty(samples.values.shape)
    setting = trace.setting_of[samples.collective]
    order = np.lexsort((samples.rank, samples.collective))
    for number in np.unique(setting):
        rows = order[setting[order] == number]
        x[rows] = scaling.without_drift(samples.values[rows], window)
    return x


def _one_a_cell(trace: Trace) -> Samples:
    collective, rank = np.nonzero(~np.isnan(trace.arrival_s))
    return Samples(names=(), values=np.empty((len(rank), 0)), collective=collective, rank=rank)


def _windowed(trace: Trace, samples: Samples, window_s: float) -> tuple[Samples, int, int]:
    """What is read in the first `window_s` of a period; how many periods are too short; how many samples are left out.

    Where periods are not known (slacks only, or a setting's first collective) all samples stay; so they do where ranks
    start together and no sample has a time: a sample then is of the whole round.
    """
    if trace.starts_together and samples.taken_s is None:
        return samples, 0, 0
    with np.errstate(invalid="ignore"):
        short = trace.period_s < window_s
    stays = ~short[samples.collective, samples.rank]
    if samples.taken_s is not None:
        began_s = trace.arrival_s - trace.period_s
        after_s = samples.taken_s - began_s[samples.collective, samples.rank]
        with np.errstate(invalid="ignore"):
            stays &= ~((after_s < 0) | (after_s > window_s))
    excluded, outside = int(np.sum(short)), int(np.sum(~stays))
    return (samples if outside == 0 else samples.chosen(stays)), excluded, outside


def _with_own_time(trace: Trace, samples: Samples) -> Samples:
    if trace.is_slack:
        raise BadSampleError("own times cannot be told from slacks: give arrivals or throughputs")
    own = np.log(np.maximum(trace.period_s[samples.collective, samples.rank], 1e-9))
    return Samples(
        names=(*samples.names, OWN_TIME),
        values=np.column_stack([samples.values, own]),
        collective=samples.collective,
        rank=samples.rank,
        taken_s=samples.taken_s,
    )
