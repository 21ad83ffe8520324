"""Jobs of canaries among those of all others: every node does each of them at intervals."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from orchestrator.contracts.designs import Design
from orchestrator.contracts.jobs import PlannedJob
from orchestrator.design.plan import Schedule, plan
from orchestrator.design.sections import Canaries


def with_canaries(
    schedule: Schedule, design: Design, ordinals: Sequence[int], canaries: Canaries, nodes: Sequence[str]
) -> tuple[Design, list[PlannedJob]]:
    """The design, in which canaries have replicates of their own, and all jobs by position.

    A round of canaries is a job of each of them for each node, shuffled, behind each of `times` equal parts of the
    other jobs. Balanced placement deals a round to all nodes; pinned placement has them named.
    """
    mine = set(ordinals)
    replicates = canaries.times * canaries.runs * len(nodes)
    settings = tuple(
        dataclasses.replace(one, replicates=replicates) if one.ordinal in mine else one for one in design.settings
    )
    others = [job for job in plan(schedule, design, nodes) if job.setting not in mine]
    rounds = _rounds(schedule, ordinals, canaries, nodes)
    ends = [len(others) * (number + 1) // canaries.times for number in range(canaries.times)]
    jobs: list[PlannedJob] = []
    for begin, end, of_round in zip([0, *ends], ends, rounds, strict=False):
        jobs += [*others[begin:end], *of_round]
    numbered = [dataclasses.replace(job, position=position) for position, job in enumerate(jobs)]
    return dataclasses.replace(design, settings=settings), numbered


def _rounds(
    schedule: Schedule, ordinals: Sequence[int], canaries: Canaries, nodes: Sequence[str]
) -> Iterator[list[PlannedJob]]:
    rng = np.random.default_rng([schedule.order.seed, len(ordinals)])
    named = nodes if schedule.placement.kind == "pinned" else [None] * len(nodes)
    for number in range(canaries.times):
        visits = [
            PlannedJob(
                setting=ordinal,
                block=number,
                position=0,
                first_replicate=(number * len(nodes) + place) * canaries.runs,
                replicates=canaries.runs,
                node=node,
            )
            for ordinal in ordinals
            for place, node in enumerate(named)
        ]
        yield [visits[place] for place in rng.permutation(len(visits))]
