"""From a design to jobs in the order in which they are handed out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
    Raises StudyError for a pinned study without nodes.
    """
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
