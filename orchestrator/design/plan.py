"""From a design to jobs in the order in which they are handed out."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from orchestrator.contracts.designs import Design
from orchestrator.contracts.errors import StudyError
from orchestrator.contracts.jobs import PlannedJob
from orchestrator.design.sections import Order, Placement


class Schedule(Protocol):
    """What a plan needs to know of a study."""

    @property
    def replicates(self) -> int: ...
    @property
    def replicates_per_job(self) -> int: ...
    @property
    def order(self) -> Order: ...
    @property
    def placement(self) -> Placement: ...


def plan(schedule: Schedule, design: Design, nodes: Sequence[str] = ()) -> list[PlannedJob]:
    """Jobs by position: block b holds every setting once (controls too), with the b-th range of replicates.

    A randomised block is a permutation of its own (randomised complete blocks), so that drift spreads over all
    settings; the same seed gives the same plan. `nodes` are dealt out where a pinned study names none itself.
    In lockstep every replicate is a round, of a job for each node. Raises StudyError for a pinned study without nodes,
    and for one in lockstep with fewer than two.
    """
    if schedule.placement.kind == "lockstep":
        return list(_rounds(schedule, len(design.settings), lockstep_nodes(schedule.placement, nodes)))
    home = _homes(schedule, len(design.settings), nodes)
    ranges = list(_ranges(schedule.replicates, schedule.replicates_per_job))
    return [
        PlannedJob(
            setting=setting,
            block=block,
            position=position,
            first_replicate=ranges[block][0],
            replicates=ranges[block][1],
            node=home[setting],
        )
        for position, (block, setting) in enumerate(_sequence(schedule.order, len(ranges), len(design.settings)))
    ]


def lockstep_nodes(placement: Placement, nodes: Sequence[str]) -> tuple[str, ...]:
    """Those that carry out every round: as the study says, or else all of `nodes`. Raises StudyError."""
    taking_part = placement.nodes or tuple(nodes)
    if len(taking_part) < 2:
        raise StudyError(
            "placement: lockstep takes at least two nodes; start more agents, or write"
            " `placement: {kind: lockstep, nodes: [NAME, NAME, ...]}`"
        )
    return taking_part


def _rounds(schedule: Schedule, settings: int, nodes: Sequence[str]) -> Iterator[PlannedJob]:
    """A replicate of the study becomes one replicate of the ledger for each node: block b has b n, ..., b n + n - 1."""
    order = _sequence(schedule.order, schedule.replicates, settings)
    for number, (block, setting) in enumerate(order):
        for place, node in enumerate(nodes):
            yield PlannedJob(
                setting=setting,
                block=block,
                position=number * len(nodes) + place,
                first_replicate=block * len(nodes) + place,
                replicates=1,
                node=node,
                round=number,
            )


def dealt(jobs: Sequence[PlannedJob], shares: Mapping[int, Mapping[str, int]], *, seed: int) -> list[PlannedJob]:
    """The same jobs, each on a node: those of a setting in the proportions `shares` (setting -> node -> weight).

    Counts are rounded by largest remainder; which of a setting's jobs a node does is drawn at random. A setting
    without shares is dealt in the proportions of all of them together.
    """
    rng = np.random.default_rng([seed, len(jobs)])
    together: Counter[str] = Counter()
    for of_setting in shares.values():
        together.update(of_setting)
    places: dict[int, list[int]] = {}
    for place, job in enumerate(jobs):
        places.setdefault(job.setting, []).append(place)
    node_of: dict[int, str] = {}
    for setting, mine in places.items():
        hands = _in_proportion(shares.get(setting) or together, len(mine), rng)
        node_of.update(zip(mine, hands, strict=True))
    return [dataclasses.replace(job, node=node_of[place]) for place, job in enumerate(jobs)]


def _in_proportion(weights: Mapping[str, int], count: int, rng: np.random.Generator) -> list[str]:
    """`count` nodes in these proportions, shuffled; ties between remainders are drawn."""
    names = list(weights)
    exact = np.array([weights[name] for name in names]) * count / sum(weights.values())
    given = np.floor(exact).astype(np.int64)
    ties = rng.random(len(names))
    for place in np.lexsort([ties, given - exact])[: count - int(np.sum(given))]:
        given[place] += 1
    hands = [name for name, number in zip(names, given.tolist(), strict=True) for _ in range(number)]
    return [hands[place] for place in rng.permutation(count)]


def _ranges(replicates: int, per_job: int) -> Iterator[tuple[int, int]]:
    for first in range(0, replicates, per_job):
        yield first, min(per_job, replicates - first)


def _sequence(order: Order, blocks: int, settings: int) -> Iterable[tuple[int, int]]:
    """(block, setting) pairs, block after block."""
    rng = np.random.default_rng(order.seed)
    for block in range(blocks):
        inside = rng.permutation(settings).tolist() if order.kind == "randomised" else range(settings)
        for setting in inside:
            yield block, setting


def _homes(schedule: Schedule, settings: int, nodes: Sequence[str]) -> list[str | None]:
    """The node each setting is pinned to. Dealt at random: dealing in order would tie nodes to levels."""
    if schedule.placement.kind != "pinned":
        return [None] * settings
    dealt_to = schedule.placement.nodes or tuple(nodes)
    if not dealt_to:
        raise StudyError("placement: pinned to no node; write `placement: {kind: pinned, nodes: [NAME, ...]}`")
    rng = np.random.default_rng([schedule.order.seed, settings])
    places = rng.permutation(settings) % len(dealt_to)
    return [dealt_to[place] for place in places.tolist()]
