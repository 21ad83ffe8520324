"""Small studies to submit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from orchestrator.contracts.campaigns import Submission
from orchestrator.contracts.designs import Design, Setting
from orchestrator.contracts.jobs import PlannedJob
from tests.contract.stores import StoreUnderTest

MODES = ("initial_writers", "readers")
CONTROL = {"mixture": "normal:0.5,100,1;0.5,200,1"}


def study(
    *,
    settings: int = 1,
    replicates: int = 1,
    per_job: int | None = None,
    engine: str = "builtin",
    engine_options: Mapping[str, object] | None = None,
    placement: str = "any",
    control: bool = False,
    node: str | None = None,
    nodes: Sequence[str] = (),
    on_lost_node: str = "reassign",
    key: str | None = None,
    digest: str = "a digest",
    parent: int | None = None,
) -> Submission:
    """`settings` settings of two modes, planned in blocks of `per_job` replicates (default: all in one job).

    Pinned to `node`, or dealt to `nodes` in turn.
    """
    per_job = replicates if per_job is None else per_job
    listed = [Setting(ordinal=n, levels=(n + 1, 4.0, "ssd"), modes=MODES) for n in range(settings)]
    if control:
        listed.append(Setting(ordinal=settings, levels=(), modes=("control_two",), control="two"))
    ranges = [
        (block, setting.ordinal, first)
        for block, first in enumerate(range(0, replicates, per_job))
        for setting in listed
    ]
    return Submission(
        name="a study",
        study={"name": "a study", "replicates": replicates},
        design=Design(factors=("threads", "file_size_kb", "target"), settings=tuple(listed)),
        replicates=replicates,
        engine=engine,
        engine_options=engine_options or {},
        node_options={"trim": "never"},
        analysis_options={"min_n": 1},
        placement=placement,
        on_lost_node=on_lost_node,
        max_tries=3,
        controls={"two": CONTROL} if control else {},
        jobs=[
            PlannedJob(
                setting=ordinal,
                block=block,
                position=position,
                first_replicate=first,
                replicates=min(per_job, replicates - first),
                node=nodes[ordinal % len(nodes)] if nodes else node,
            )
            for position, (block, ordinal, first) in enumerate(ranges)
        ],
        digest=digest,
        idempotency_key=key,
        parent_id=parent,
    )


def in_lockstep(
    nodes: Sequence[str], *, rounds: int = 1, settings: int = 1, wait_s: float = 3600.0, on_lost_node: str = "reassign"
) -> Submission:
    """Rounds of a job for each node; who is ready for one waits an hour for the others."""
    plain = study(
        settings=settings, replicates=rounds * len(nodes), per_job=1, placement="lockstep", on_lost_node=on_lost_node
    )
    planned = [
        PlannedJob(
            setting=number % settings,
            block=number // settings,
            position=number * len(nodes) + place,
            first_replicate=number // settings * len(nodes) + place,
            replicates=1,
            node=node,
            round=number,
        )
        for number in range(rounds * settings)
        for place, node in enumerate(nodes)
    ]
    placement = {"kind": "lockstep", "nodes": list(nodes), "wait_s": wait_s}
    return replace(plain, jobs=planned, study={**plain.study, "placement": placement})


def submitted(store: StoreUnderTest, submission: Submission) -> int:
    """The new campaign's id."""
    campaign, new = store.campaigns.submit(submission)
    assert new
    return campaign.id


def jobs(store: StoreUnderTest, campaign_id: int) -> Counter[str]:
    """State -> number of jobs, as far as there are any."""
    return +Counter(store.campaigns.progress(campaign_id).jobs)
