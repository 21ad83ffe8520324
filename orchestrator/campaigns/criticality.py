"""Which nodes would hold a campaign's rounds up: rounds made afterwards from its runs (docs/criticality.md).

Round k of a setting are the k-th valid runs of its nodes, each as long as it took. They did not start together: what
nodes share at one moment is not in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis import criticality
from analysis.arrays import Array, Flags, Indices
from analysis.criticality import Rule, Samples, Teller, Trace
from orchestrator.campaigns.attribution import observed_numbers
from orchestrator.campaigns.counters import COUNTING, first_of_each_setting
from orchestrator.contracts.campaigns import Configuration
from orchestrator.contracts.findings import MeasuredRun
from orchestrator.contracts.runs import Validity
from orchestrator.store.ports import Store

MOST_SETTINGS = 200
"""So many are looked at, spread over the design."""
MOST_RUNS = 20_000
"""Of these settings together."""
PROBED = 10
"""Settings after which observations are given up where none of them has any."""
FEWEST_ROUNDS = 10
"""With a critical node; with fewer, nobody is named."""
PARTS = 60
"""Of the campaign, in the picture."""
BY_MODEL = "criticality by the agent's own model"
PER_SECOND = tuple(f" ({collector})" for collector in (*COUNTING, "rapl"))
"""How columns end that grow while a run lasts: as they are, they would only tell how long it was."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CriticalNode:
    """How often one node was critical, over the rounds whose imbalance reaches the bound."""

    node: str
    rounds: int
    critical: int
    share: float
    low: float
    """With `high`, Wilson's 95 % interval, as if rounds were independent."""
    high: float
    chance: float
    """The share, were each round's critical nodes drawn anew."""
    stands_out: bool
    """Critical more often than chance explains, at 5 % of all nodes together."""
    over_time: tuple[float | None, ...]
    """The share in consecutive parts of these rounds, in order of start; None where it took no part."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SlowSet:
    """Temporal inconsistency of one kind of set: are its members always the same."""

    name: str
    pairs: int
    """(Setting, node) pairs that took part."""
    always: int
    sometimes: int
    """Includes those that always were."""
    overlap: float | None
    """The share of a set that is in that of the setting's next round; None where no setting has a next one."""
    chance: float | None
    """The same, were each set drawn anew."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CampaignCriticality:
    """Who would have been waited for, and how that changes."""

    sentence: str
    lockstep: bool
    """Whether the nodes of a round were started together. Always false: rounds are put together afterwards."""
    looked_at: int
    """Settings."""
    settings: int
    """Those of them that two nodes or more have measured."""
    rounds: int
    bound_s: float
    labelled_rounds: int
    """Rounds whose imbalance reaches the bound: in these, nodes are critical or not."""
    imbalance_s: float | None
    """Its median over all rounds."""
    apart_s: float | None
    """How far apart the starts of a round's runs lie: the median over all rounds."""
    nodes: tuple[CriticalNode, ...]
    """The most frequently critical first; empty without labelled rounds."""
    sets: tuple[SlowSet, ...]
    quantities: tuple[Teller, ...]
    """What was observed around runs, each alone, the most telling first; empty where nothing was."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Measured:
    """One setting: (round, run) pairs in order of start, and what was observed around each."""

    runs: Sequence[tuple[int, MeasuredRun]]
    observed: Sequence[Mapping[str, Any]]


def nodes_of(store: Store, campaign_id: int) -> CampaignCriticality:
    """Who was critical how often. Raises NotFoundError, and ConflictError for an archived campaign."""
    chosen = _chosen(store, campaign_id)
    measured = list(_measured(store, campaign_id, chosen))
    if not measured:
        return _nothing(len(chosen))
    trace, started_at, cells = _trace(measured)
    rule = Rule()
    labels = criticality.critical(trace, rule)
    counted = criticality.reaches(trace.imbalance_s, rule.bound_s)
    enough = int(np.sum(counted)) >= FEWEST_ROUNDS
    nodes = tuple(_nodes(trace, labels, counted, started_at)) if enough else ()
    sets = tuple(_sets(trace, labels, counted)) if enough else ()
    samples = _samples(measured, cells) if enough else None
    return CampaignCriticality(
        sentence=_sentence(nodes, sets, int(np.sum(counted)), len(counted), rule),
        lockstep=False,
        looked_at=len(chosen),
        settings=len(measured),
        rounds=len(counted),
        bound_s=rule.bound_s,
        labelled_rounds=int(np.sum(counted)),
        imbalance_s=float(np.median(trace.imbalance_s)),
        apart_s=float(np.median(np.nanmax(started_at, axis=1) - np.nanmin(started_at, axis=1))),
        nodes=nodes,
        sets=sets,
        quantities=() if samples is None else tuple(criticality.tellers(trace, samples, labels, counted)),
    )


def _nothing(looked_at: int) -> CampaignCriticality:
    return CampaignCriticality(
        sentence="No setting has valid runs of two nodes: nobody is waited for",
        lockstep=False,
        looked_at=looked_at,
        settings=0,
        rounds=0,
        bound_s=Rule().bound_s,
        labelled_rounds=0,
        imbalance_s=None,
        apart_s=None,
        nodes=(),
        sets=(),
        quantities=(),
    )


def _chosen(store: Store, campaign_id: int) -> list[Configuration]:
    of_setting = first_of_each_setting(store.campaigns.configurations(campaign_id))
    return of_setting[:: max(1, -(-len(of_setting) // MOST_SETTINGS))]


def _measured(store: Store, campaign_id: int, chosen: Sequence[Configuration]) -> Iterator[_Measured]:
    """Those that two nodes have measured, until these are as many runs as are looked at."""
    shares = store.findings.shares(campaign_id, [one.setting_id for one in chosen])
    taken, asked, told_something = 0, 0, False
    for one in chosen:
        share = shares.get(one.setting_id, {})
        if len(share) < 2 or (taken and taken + sum(share.values()) > MOST_RUNS):
            continue
        taken += sum(share.values())
        page = store.campaigns.configuration(campaign_id, one.setting_id, one.mode)
        runs = in_rounds([run for run in page.runs if run.validity == Validity.VALID])
        told = store.runs.told(one.setting_id) if told_something or asked < PROBED else {}
        asked += 1
        observed = [told.get(run.id, {}).get("observed", {}) for _, run in runs]
        told_something = told_something or any(observed)
        if runs:
            yield _Measured(runs=runs, observed=observed)


def in_rounds(runs: Sequence[MeasuredRun]) -> list[tuple[int, MeasuredRun]]:
    """The k-th run of a node is in round k; without those that no other node has a k-th run beside."""
    seen: Counter[str] = Counter()
    found = []
    for run in runs:
        found.append((seen[run.node], run))
        seen[run.node] += 1
    shared = sorted(seen.values())[-2] if len(seen) > 1 else 0
    return [(number, run) for number, run in found if number < shared]


def _trace(measured: Sequence[_Measured]) -> tuple[Trace, Array, tuple[Indices, Indices]]:
    """The rounds, the (K, R) starts of their runs, and the row and rank of each run, in the order of `measured`."""
    nodes = sorted({run.node for setting in measured for _, run in setting.runs})
    rank_of = {node: place for place, node in enumerate(nodes)}
    lengths = [1 + max(number for number, _ in setting.runs) for setting in measured]
    before = np.cumsum([0, *lengths[:-1]])
    each = [
        (first + number, run) for first, setting in zip(before, measured, strict=True) for number, run in setting.runs
    ]
    row = np.array([place for place, _ in each])
    rank = np.array([rank_of[run.node] for _, run in each])
    arrival_s = np.full((sum(lengths), len(nodes)), np.nan)
    started_at = arrival_s.copy()
    arrival_s[row, rank] = [run.elapsed_s for _, run in each]
    started_at[row, rank] = [run.started_at for _, run in each]
    trace = Trace(
        settings=tuple(str(number) for number in range(len(measured))),
        collectives=tuple(str(number) for length in lengths for number in range(length)),
        ranks=tuple(nodes),
        setting_of=np.repeat(np.arange(len(measured)), lengths),
        arrival_s=arrival_s,
        starts_together=True,
    )
    return trace, started_at, (row, rank)


def _nodes(trace: Trace, labels: Flags, counted: Flags, started_at: Array) -> list[CriticalNode]:
    order = np.flatnonzero(counted)
    order = order[np.argsort(np.nanmin(started_at[order], axis=1), kind="stable")]
    parts = np.array_split(order, min(PARTS, len(order)))
    found = [
        CriticalNode(
            node=trace.ranks[rank],
            rounds=one.collectives,
            critical=one.critical,
            share=one.share,
            low=one.low,
            high=one.high,
            chance=one.chance,
            stands_out=one.stands_out,
            over_time=tuple(_share(trace.arrival_s[part, rank], labels[part, rank]) for part in parts),
        )
        for rank, one in enumerate(criticality.frequencies(trace, labels, counted))
        if one is not None
    ]
    return sorted(found, key=lambda one: -one.share)


def _share(arrival_s: Array, labels: Flags) -> float | None:
    took_part = ~np.isnan(arrival_s)
    return float(np.mean(labels[took_part])) if np.any(took_part) else None


def _sets(trace: Trace, labels: Flags, counted: Flags) -> Iterator[SlowSet]:
    slowest = [(f"slowest {100 * share:g} %", criticality.slow_sets(trace, share), None) for share in (0.05, 0.5)]
    for name, members, rows in (*slowest, ("critical", labels, counted)):
        found = criticality.of_sets(trace, members, rows)
        yield SlowSet(
            name=name,
            pairs=found.ranks,
            always=found.always,
            sometimes=found.sometimes,
            overlap=_or_none(found.overlap[0]),
            chance=_or_none(found.chance),
        )


def _or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _samples(measured: Sequence[_Measured], cells: tuple[Indices, Indices]) -> Samples | None:
    """What was observed around the runs, counts per second of their run; None where nothing was."""
    observed = [one for setting in measured for one in setting.observed]
    elapsed_s = np.array([run.elapsed_s for setting in measured for _, run in setting.runs])
    elapsed_s[elapsed_s <= 0] = np.nan  # imported runs need not tell it
    columns = {
        name: column / elapsed_s if name.endswith(PER_SECOND) else column
        for name, column in observed_numbers(observed).items()
    }
    if any("criticality" in one for one in observed):
        columns[BY_MODEL] = np.array([float(one.get("criticality", np.nan)) for one in observed])
    if not columns:
        return None
    values = np.stack(list(columns.values()), axis=1)
    values[~np.isfinite(values)] = np.nan
    return Samples(names=tuple(columns), values=values, collective=cells[0], rank=cells[1])


def _sentence(nodes: Sequence[CriticalNode], sets: Sequence[SlowSet], labelled: int, rounds: int, rule: Rule) -> str:
    if not nodes:
        return (
            f"{labelled:,} of {rounds:,} rounds reach an imbalance of {rule.bound_s * 1000:g} ms, and "
            f"{FEWEST_ROUNDS} are needed: nobody is named critical"
        )
    critical = sets[-1]
    constant = (
        f"{critical.always:,} of {critical.pairs:,} (setting, node) pairs always were, {critical.sometimes:,} at times"
    )
    named = [f"{one.node} ({one.share:.0%}, by chance {one.chance:.0%})" for one in nodes if one.stands_out]
    if not named:
        return f"It moves: no node was critical more often than chance explains; {constant}"
    more = f" and {len(named) - 3} more" if len(named) > 3 else ""
    return f"Critical more often than chance explains: {', '.join(named[:3])}{more}; {constant}"
