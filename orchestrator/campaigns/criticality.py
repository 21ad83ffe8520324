"""Which nodes hold a campaign's rounds up (docs/criticality.md).

In lockstep, rounds are those that were begun together. Else round k of a setting are the k-th valid runs of its nodes,
each as long as it took: they did not start together, and what nodes share at one moment is not in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analysis import criticality
from analysis.arrays import Array, Flags
from analysis.criticality import Rule, Teller, Trace
from orchestrator.campaigns import critical_model, side_by_side
from orchestrator.campaigns.critical_model import ModelQuality
from orchestrator.store.ports import Store

LOCKSTEP = "lockstep"
FEWEST_ROUNDS = 10
"""With a critical node; with fewer, nobody is named."""
PARTS = 60
"""Of the campaign, in the picture."""


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
    """Who was waited for, or would have been, and how that changes."""

    sentence: str
    lockstep: bool
    """Whether the nodes of a round were started together; else rounds are put together afterwards."""
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
    most_apart_s: float | None
    """The largest of these."""
    nodes: tuple[CriticalNode, ...]
    """The most frequently critical first; empty without labelled rounds."""
    sets: tuple[SlowSet, ...]
    quantities: tuple[Teller, ...]
    """What was observed around runs, each alone, the most telling first; empty where nothing was."""
    models: tuple[ModelQuality, ...]
    """What models are worth that the first rounds train."""
    no_model: str | None
    """Why there are none, or not all."""


def nodes_of(store: Store, campaign_id: int) -> CampaignCriticality:
    """Who was critical how often. Raises NotFoundError, and ConflictError for an archived campaign."""
    lockstep = store.campaigns.study(campaign_id).placement == LOCKSTEP
    chosen = side_by_side.chosen(store, campaign_id)
    rounds = side_by_side.gather(store, campaign_id, chosen, lockstep=lockstep)
    if rounds is None:
        return _nothing(len(chosen), lockstep=lockstep)
    trace, started_at = rounds.trace, rounds.started_at
    apart_s = np.nanmax(started_at, axis=1) - np.nanmin(started_at, axis=1)
    rule = Rule()
    labels = criticality.critical(trace, rule)
    counted = criticality.reaches(trace.imbalance_s, rule.bound_s)
    enough = int(np.sum(counted)) >= FEWEST_ROUNDS
    nodes = tuple(_nodes(trace, labels, counted, started_at)) if enough else ()
    sets = tuple(_sets(trace, labels, counted)) if enough else ()
    samples = rounds.samples if enough else None
    models, no_model = critical_model.qualities(trace, samples, rule)
    return CampaignCriticality(
        sentence=_sentence(nodes, sets, int(np.sum(counted)), len(counted), rule),
        lockstep=lockstep,
        looked_at=len(chosen),
        settings=len(trace.settings),
        rounds=len(counted),
        bound_s=rule.bound_s,
        labelled_rounds=int(np.sum(counted)),
        imbalance_s=float(np.median(trace.imbalance_s)),
        apart_s=float(np.median(apart_s)),
        most_apart_s=float(np.max(apart_s)),
        nodes=nodes,
        sets=sets,
        quantities=() if samples is None else tuple(criticality.tellers(trace, samples, labels, counted)),
        models=models,
        no_model=no_model,
    )


def _nothing(looked_at: int, *, lockstep: bool) -> CampaignCriticality:
    runs = "runs of two nodes that began together" if lockstep else "valid runs of two nodes"
    return CampaignCriticality(
        sentence=f"No setting has {runs}: nobody is waited for",
        lockstep=lockstep,
        looked_at=looked_at,
        settings=0,
        rounds=0,
        bound_s=Rule().bound_s,
        labelled_rounds=0,
        imbalance_s=None,
        apart_s=None,
        most_apart_s=None,
        nodes=(),
        sets=(),
        quantities=(),
        models=(),
        no_model=None,
    )


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
