"""A study, enumerated and planned, as the store takes it; and the same again for a choice of its settings."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence

from orchestrator.contracts import engines
from orchestrator.contracts.campaigns import Submission
from orchestrator.contracts.designs import Design, Setting
from orchestrator.contracts.errors import StudyError
from orchestrator.contracts.jobs import PlannedJob
from orchestrator.contracts.rounds import ACTIVE, ADAPTIVE, Growth
from orchestrator.design.beginning import begun
from orchestrator.design.canary_plan import with_canaries
from orchestrator.design.expand import expand
from orchestrator.design.plan import dealt, lockstep_nodes, plan
from orchestrator.design.study import Study


def submission(
    study: Study, *, idempotency_key: str | None = None, nodes: Sequence[str] = (), parent_id: int | None = None
) -> Submission:
    """Everything the store needs to make a campaign of a study. Raises StudyError."""
    design, jobs = _planned(study, nodes)
    written_out = study.as_dict()
    return Submission(
        name=study.name,
        study=written_out,
        design=design,
        replicates=_runs_of_a_setting(study, nodes),
        engine=study.engine.name,
        engine_options=engines.as_dict(study.engine.options),
        node_options=study.node.as_dict(),
        analysis_options=written_out["analysis"],
        placement=study.placement.kind,
        on_lost_node=study.on_lost_node,
        max_tries=study.max_tries,
        controls=written_out["controls"],
        jobs=jobs,
        digest=study.digest,
        idempotency_key=idempotency_key,
        parent_id=parent_id,
        growth=_growth(study),
    )


def _runs_of_a_setting(study: Study, nodes: Sequence[str]) -> int:
    """In lockstep every node does every replicate."""
    if study.placement.kind != "lockstep":
        return study.replicates
    return study.replicates * len(lockstep_nodes(study.placement, nodes))


def _planned(study: Study, nodes: Sequence[str]) -> tuple[Design, list[PlannedJob]]:
    """Settings and jobs, of an active study those of its first part.

    Canaries have a schedule of their own, and so a number of replicates.
    """
    design = expand(study)
    if study.active is not None:
        return begun(design, plan(study, design, nodes), study.active.first, seed=study.order.seed)
    if study.canaries is None:
        return design, plan(study, design, nodes)
    places = {one.levels: one.ordinal for one in design.settings}
    measuring = study.placement.nodes or tuple(nodes)
    if not measuring:
        raise StudyError("canaries: no node is known yet; start an agent first, or pin the study to named nodes")
    chosen = study.canaries.levels(design.factors)
    return with_canaries(study, design, [places[levels] for levels in chosen], study.canaries, measuring)


def _growth(study: Study) -> Growth | None:
    """How the campaign grows after its first round."""
    grows = study.active or study.adaptive
    if grows is None:
        return None
    return Growth(
        policy=ADAPTIVE if study.active is None else ACTIVE,
        options=grows.model_dump(mode="json"),
        replicates_per_job=study.replicates_per_job,
        randomised=study.order.kind == "randomised",
        seed=study.order.seed,
    )


def rerun(
    parent: Submission,
    design: Design,
    ordinals: Collection[int],
    *,
    seed: int,
    replicates: int | None = None,
    parent_id: int | None = None,
    nodes: Sequence[str] = (),
    shares: Mapping[int, Mapping[str, int]] | None = None,
) -> Submission:
    """A child campaign: the settings of `design` with these ordinals, all their modes, in a fresh random order.

    Its study is a study of its own (one block a setting), so that it can be read, checked and submitted again; it
    names the parent in `name` and `rerun_of`. `replicates` defaults to the parent's. With `shares` (ordinal -> node ->
    weight) every setting's jobs are pinned to nodes in these proportions; else it is placed as the parent was.
    Raises StudyError.
    """
    picked = [setting for setting in design.settings if setting.ordinal in set(ordinals)]
    if len(picked) < len(set(ordinals)) or not picked:
        raise StudyError(f"cannot re-run settings {sorted(set(ordinals))[:5]}: {parent.name!r} does not have them all")
    measured = [setting for setting in picked if setting.control is None]
    changes = {
        "name": f"{parent.name[:100]} (re-run)",
        "rerun_of": parent.name,
        "design": {"factors": design.factors, "blocks": [_block(setting, design.factors) for setting in measured]},
        "replicates": parent.replicates if replicates is None else replicates,
        "order": {"kind": "randomised", "seed": seed},
        "analysis": dict(parent.analysis_options),  # the rule by which it was chosen, written down before its runs
        "controls": {s.control: _drawn_anew(parent.controls[s.control], seed) for s in picked if s.control is not None},
    }
    if parent.placement == "lockstep":
        changes["placement"] = {"kind": "balanced"}  # its runs are compared with each other, not its nodes
    if shares:
        dealt_to = sorted({node for of_setting in shares.values() for node in of_setting})
        changes["placement"] = {"kind": "pinned", "nodes": dealt_to}
    left_out = ("replicates_per_job", "active", "adaptive", "canaries")  # a re-run is as large as it was said to be
    inherited = {key: value for key, value in parent.study.items() if key not in left_out}
    study = Study.from_dict({**inherited, **changes})
    child = submission(study, nodes=nodes, parent_id=parent_id)
    return _on_the_same_nodes(child, picked, shares, seed) if shares else child


def _on_the_same_nodes(
    child: Submission, picked: Sequence[Setting], shares: Mapping[int, Mapping[str, int]], seed: int
) -> Submission:
    """The child numbers its settings anew: shares are found by what a setting is."""
    of = {(one.control, one.levels): shares[one.ordinal] for one in picked if one.ordinal in shares}
    known = {
        one.ordinal: of[one.control, one.levels] for one in child.design.settings if (one.control, one.levels) in of
    }
    return dataclasses.replace(child, jobs=dealt(child.jobs, known, seed=seed))


def _block(setting: Setting, factors: Sequence[str]) -> dict[str, object]:
    levels = {factor: [level] for factor, level in zip(factors, setting.levels, strict=True)}
    return {"levels": levels, "modes": list(setting.modes)}


def _drawn_anew(control: Mapping[str, object], seed: int) -> dict[str, object]:
    """The same truth, other draws: a control that repeated its sample would hold its verdict by construction."""
    return {**control, "seed": int(str(control["seed"])) + seed + 1}
