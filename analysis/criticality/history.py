"""What a rank may know before a round begins: how it fared in the labelled rounds of this setting until then."""

from __future__ import annotations

import numpy as np

from analysis.arrays import Array, Flags
from analysis.criticality.trace import Trace

MEMORIES = (0.02, 0.1, 0.5)
"""Weights of the newest round in a rate that forgets."""
PRIOR_ROUNDS = 4.0
"""So many rounds' worth of the overall rate are known at the start."""
NAMES = (*(f"rate_{memory:g}" for memory in MEMORIES), "slack_0.02", "rate_all")


def of_trace(trace: Trace, labels: Flags, labelled: Flags) -> Array:
    """(K, R, 5) rates of being critical, slack as a share of the imbalance, and the rate over all earlier rounds.

    Only rounds before a collective that are labelled ((K,) `labelled`) count; labels of the round itself never do.
    """
    told = np.zeros((*trace.arrival_s.shape, len(NAMES)))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = trace.slack_s / trace.imbalance_s[:, None]
    for rows in trace.by_setting():
        state = _Rates(trace.arrival_s.shape[1])
        for row in rows:
            told[row] = state.told()
            if labelled[row]:
                state.add(labels[row], share[row])
    return told


class _Rates:
    """Weighted sums for every rank; a rank that took no part is left as it was."""

    def __init__(self, ranks: int) -> None:
        self.memories = np.array([*MEMORIES, MEMORIES[0], 0.0])
        self.weights = np.full((ranks, len(NAMES)), PRIOR_ROUNDS)
        self.sums = np.tile(PRIOR_ROUNDS * np.array([0.3, 0.3, 0.3, 0.5, 0.3]), (ranks, 1))

    def told(self) -> Array:
        rates: Array = self.sums / self.weights
        return rates

    def add(self, critical: Flags, share: Array) -> None:
        there = ~np.isnan(share)
        new = np.repeat(critical[there, None].astype(np.float64), len(NAMES), axis=1)
        new[:, NAMES.index("slack_0.02")] = share[there]
        self.weights[there] = (1 - self.memories) * self.weights[there] + 1
        self.sums[there] = (1 - self.memories) * self.sums[there] + new


def earlier_rates(trace: Trace, labels: Flags, learnt: Flags) -> tuple[Array, Array]:
    """(K, R) the rate of each (setting, rank), and of each rank, over the labelled rounds that were learnt from."""
    took_part = ~np.isnan(trace.arrival_s)
    critical, rounds = labels & learnt[:, None], took_part & learnt[:, None]
    overall = np.sum(critical) / max(int(np.sum(rounds)), 1)
    by_pair = np.zeros(trace.arrival_s.shape)
    for rows in trace.by_setting():
        by_pair[rows] = (np.sum(critical[rows], axis=0) + overall) / (np.sum(rounds[rows], axis=0) + 1)
    by_rank = (np.sum(critical, axis=0) + overall) / (np.sum(rounds, axis=0) + 1)
    return by_pair, np.broadcast_to(by_rank, by_pair.shape)


def previous_labels(trace: Trace, labels: Flags, labelled: Flags) -> Array:
    """(K, R) 1 where the rank was critical in the labelled round before, 0 where not, 0.5 where there was none."""
    told = np.full(trace.arrival_s.shape, 0.5)
    took_part = ~np.isnan(trace.arrival_s)
    for rows in trace.by_setting():
        last = np.full(len(trace.ranks), 0.5)
        for row in rows:
            told[row] = last
            if labelled[row]:
                last = np.where(took_part[row], labels[row], last)
    return told
