"""Canary settings of a campaign: do its nodes measure the same, and does it stay the same?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from analysis import equivalence
from analysis.errors import AnalysisError
from orchestrator.contracts.canaries import CanaryReport, LevelChange, NodeCanaries
from orchestrator.contracts.circumstances import Circumstance
from orchestrator.contracts.designs import Design
from orchestrator.contracts.errors import ConflictError
from orchestrator.store.ports import Store

SEED = 20200607


def canaries(store: Store, campaign_id: int) -> CanaryReport:
    """By the valid runs there are so far; the same for the same runs.

    Raises NotFoundError, and ConflictError where the study has no canaries, or none of them has a run yet.
    """
    study = store.campaigns.study(campaign_id)
    section: Any = study.study.get("canaries")
    if section is None:
        raise ConflictError(f"campaign {campaign_id} has no canaries: its study has no `canaries:`")
    found = store.campaigns.configurations(campaign_id)
    levels = _levels(study.design, section["settings"])
    ids = tuple(dict.fromkeys(one.setting_id for one in found if one.control is None and one.levels in levels))
    of_settings = [made for made in (store.findings.circumstances(campaign_id, one) for one in ids) if made]
    if not of_settings:
        raise ConflictError(f"campaign {campaign_id}: none of its canaries has a valid run yet")
    try:
        nodes = tuple(_node(one) for one in _compared(of_settings, section["margin"]))
    except AnalysisError as error:
        raise ConflictError(f"campaign {campaign_id}: {error}") from None
    return CanaryReport(
        margin=section["margin"],
        settings=ids,
        modes=tuple(dict.fromkeys(mode for made in of_settings for mode in made[0].values)),
        nodes=nodes,
        proposals=tuple(_proposals(campaign_id, nodes)),
    )


def _levels(design: Design, settings: Sequence[dict[str, Any]]) -> set[tuple[Any, ...]]:
    return {tuple(levels[factor] for factor in design.factors) for levels in settings}


def _compared(of_settings: Sequence[Sequence[Circumstance]], margin: float) -> Sequence[equivalence.NodeFound]:
    runs = [run for made in of_settings for run in made]
    scores = equivalence.Scores.of(
        [np.array([list(run.values.values()) for run in made]) for made in of_settings],
        nodes=[run.node for run in runs],
        visits=[str(run.job) for run in runs],
        started_at=[run.started_at for run in runs],
    )
    return equivalence.compare_nodes(scores, rng=np.random.default_rng(SEED), margin=margin)


def _node(found: equivalence.NodeFound) -> NodeCanaries:
    alone = not math.isfinite(found.low)
    return NodeCanaries(
        node=found.node,
        runs=found.runs,
        visits=found.visits,
        standing=found.standing,
        difference=found.difference,
        low=None if alone else found.low,
        high=None if alone else found.high,
        changes=tuple(
            LevelChange(since=since, change=math.expm1(change.after - change.before), p=change.p)
            for since, change in zip(found.drift_at, found.drift, strict=True)
        ),
    )


def _proposals(campaign_id: int, nodes: Sequence[NodeCanaries]) -> Iterator[str]:
    """What might be left out, with the command: somebody has to look, and decide."""
    different = [one.node for one in nodes if one.standing == "different"]
    left = [one.node for one in nodes if one.node not in different]
    for one in nodes:
        if one.standing == "different":
            yield (
                f"{one.node} is {100 * one.difference:+.1f} % from the others: look at its facts, and give it no more "
                f"work meanwhile: `modescope node drain {one.node}`"
            )
        for change in one.changes:
            since = datetime.fromtimestamp(change.since, UTC).strftime("%Y-%m-%d %H:%M UTC")
            yield (
                f"{one.node} changed by {100 * change.change:+.1f} % at {since}: what it measured before and after are "
                "two samples; `modescope campaign explain` says whether a flag rests on that"
            )
    if different and left:
        yield (
            f"measure what was flagged again without {', '.join(different)}: "
            f"`modescope campaign rerun {campaign_id} --flag multimodal --nodes {','.join(left)}`"
        )
