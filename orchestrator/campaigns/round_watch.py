"""Whether rounds begin to wait for the same node again and again: told once, and again when that is over."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from analysis import criticality
from analysis.arrays import Array, Flags
from analysis.criticality import Persistence, Rule, Trace
from analysis.errors import AnalysisError
from orchestrator.campaigns import forecast
from orchestrator.campaigns.criticality import LOCKSTEP
from orchestrator.campaigns.side_by_side import samples_of
from orchestrator.contracts.lockstep import CriticalNode, Finish
from orchestrator.store.ports import Store

logger = logging.getLogger(__name__)

MOST_JOBS = 20_000
"""The newest, that are looked at."""
MOST_TOLD = 50
"""Settings whose observations are read, to tell what differs."""


class RoundWatch:
    """Looks at running campaigns in lockstep, and once more when they have ended."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._in_lockstep: dict[int, bool] = {}
        self._seen: dict[int, float] = {}
        """Campaign -> the newest instant when it was looked at last."""

    def once(self) -> None:
        """One turn."""
        running = [campaign.id for campaign in forecast.running(self._store)]
        for campaign_id in running:
            if campaign_id not in self._in_lockstep:
                self._in_lockstep[campaign_id] = self._store.campaigns.study(campaign_id).placement == LOCKSTEP
        for campaign_id in [one for one, lockstep in self._in_lockstep.items() if lockstep]:
            self._look(campaign_id, over=campaign_id not in running)
        self._in_lockstep = {one: self._in_lockstep[one] for one in running}

    def _look(self, campaign_id: int, *, over: bool) -> None:
        finishes = whole_rounds(self._store.lockstep.finished(campaign_id, jobs=MOST_JOBS), over=over)
        if not finishes or self._seen.get(campaign_id) == finishes[-1].start_at:
            return
        self._seen[campaign_id] = finishes[-1].start_at
        before = {one.node: one for one in self._store.lockstep.critical(campaign_id) if one.named}
        try:
            found = find(self._store, finishes, before)
        except AnalysisError as error:
            logger.debug("%s", error, extra={"campaign": campaign_id})
            return
        for one in found:
            if self._store.lockstep.keep(campaign_id, one, message(one)):
                logger.warning("%s", message(one), extra={"campaign": campaign_id})


def whole_rounds(finishes: Sequence[Finish], *, over: bool) -> list[Finish]:
    """Of two nodes or more; without the newest round, which others may still be at, unless the campaign is over."""
    nodes = Counter(one.start_at for one in finishes)
    newest = None if over else max(nodes, default=None)
    return [one for one in finishes if nodes[one.start_at] > 1 and one.start_at != newest]


def find(store: Store, finishes: Sequence[Finish], before: dict[str, CriticalNode]) -> list[CriticalNode]:
    """Nodes that are critical again and again, and those of `before` that are so no more."""
    rule = Rule()
    trace, instants = _trace(finishes)
    rows = criticality.reaches(trace.imbalance_s, rule.bound_s)
    labels = criticality.critical(trace, rule)
    took_part = ~np.isnan(trace.arrival_s)
    named = [trace.ranks.index(name) for name in before if name in trace.ranks]
    persistent = criticality.persistent(labels[rows], took_part[rows], named)
    since = instants[rows]
    found = []
    for one in persistent:
        node, at = trace.ranks[one.rank], float(since[one.first])
        differs = before[node].differs if node in before else _differs(store, finishes, trace, one.rank, at)
        found.append(_critical(node, one, at, differs))
    over = [name for name in before if name not in {one.node for one in found} and name in trace.ranks]
    return found + [replace(before[name], named=False) for name in over]


def message(one: CriticalNode) -> str:
    """`node m07 critical in 81 % of rounds since 14:00 UTC (by chance 9 %), temperature is what differs (...)`."""
    since = f"{datetime.fromtimestamp(one.since, UTC):%H:%M} UTC"
    if not one.named:
        return f"node {one.node} is no longer critical again and again, as it was since {since}"
    share = f"node {one.node} critical in {one.critical / one.rounds:.0%} of rounds since {since}".replace("%", " %")
    differs = one.differs or "nothing that was observed tells it apart"
    return f"{share} (by chance {100 * one.chance:.0f} %), {differs}"


def _critical(node: str, one: Persistence, since: float, differs: str | None) -> CriticalNode:
    return CriticalNode(
        node=node,
        named=True,
        since=since,
        rounds=one.rounds,
        critical=one.critical,
        chance=one.chance,
        differs=differs,
    )


def _trace(finishes: Sequence[Finish]) -> tuple[Trace, Array]:
    """Rounds in order of time, and the instant of each."""
    instants, row = np.unique([one.start_at for one in finishes], return_inverse=True)
    nodes = sorted({one.node for one in finishes})
    settings = sorted({one.setting_id for one in finishes})
    arrival_s = np.full((len(instants), len(nodes)), np.nan)
    setting_of = np.zeros(len(instants), dtype=np.int64)
    for number, one in zip(row.tolist(), finishes, strict=True):
        arrival_s[number, nodes.index(one.node)] = one.started_at + one.elapsed_s - one.start_at
        setting_of[number] = settings.index(one.setting_id)
    trace = Trace(
        settings=tuple(map(str, settings)),
        collectives=tuple(map(str, range(len(instants)))),
        ranks=tuple(nodes),
        setting_of=setting_of,
        arrival_s=arrival_s,
        starts_together=True,
    )
    return trace, instants


def _differs(store: Store, finishes: Sequence[Finish], trace: Trace, rank: int, since: float) -> str | None:
    """What tells this node's runs since then from those of the others, best of all."""
    instants, row = np.unique([one.start_at for one in finishes], return_inverse=True)
    settings = {name for name, _ in Counter(one.setting_id for one in finishes).most_common(MOST_TOLD)}
    told = {run: what for setting in settings for run, what in store.runs.told(setting).items()}
    known = [place for place, one in enumerate(finishes) if one.setting_id in settings]
    cells = row[known], np.array([trace.ranks.index(finishes[place].node) for place in known])
    observed = [told.get(finishes[place].run, {}).get("observed", {}) for place in known]
    samples = samples_of(observed, np.array([finishes[place].elapsed_s for place in known]), cells)
    if samples is None:
        return None
    its_own: Flags = np.zeros(trace.arrival_s.shape, dtype=bool)
    its_own[:, rank] = True
    best = next(iter(criticality.tellers(trace, samples, its_own, instants >= since)), None)
    if best is None or not best.tells:
        return None
    column = samples.values[:, samples.names.index(best.name)]
    late = instants[samples.collective] >= since
    mine = np.nanmedian(column[late & (samples.rank == rank)])
    others = np.nanmedian(column[late & (samples.rank != rank)])
    return f"{best.name} is what differs ({mine:.4g} against {others:.4g})"
