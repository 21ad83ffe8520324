"""What a reader should doubt: threats to validity that this campaign's own facts give reason for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from orchestrator.contracts.engines import IMPORTED
from orchestrator.contracts.findings import EngineUse
from orchestrator.contracts.preparation import AS_IS, Cadence, Preparation
from orchestrator.report.independence import Independence
from orchestrator.report.section import Subject
from orchestrator.words import counted

MANY_INVALID = 0.05
"""A larger share of invalid runs may be what the bounds select by."""
FEW = 30
"""Runs; with fewer no mixture can be selected."""


def threats(subject: Subject, independence: Independence | None, used: Sequence[EngineUse]) -> Iterator[str]:
    """One sentence each; `used` is what the valid runs were measured with."""
    yield from _of_design(subject)
    yield from _of_runs(subject)
    if independence is not None and independence.alike:
        yield "Runs of a job are not independent, while verdicts and BIC take them for it."
    builds = Counter(engine for engine, _ in {(one.engine, one.version) for one in used})
    for engine, versions in builds.items():
        if versions > 1:
            yield f"{versions} versions of {engine} measured it: what differs between them differs between runs."
    if not subject.progress.verdicts_final:
        yield "The campaign or its analysis is not over: verdicts are provisional."
    yield "A verdict says that a sample has several modes, not why. A flag is a question until new runs confirm it."


def _of_design(subject: Subject) -> Iterator[str]:
    study, nodes = subject.study, subject.progress.nodes
    if study.engine == IMPORTED:
        yield "Imported: nothing is known of the order, and of the state of the nodes only what the files told."
        return
    prepared = Preparation.from_dict(study.node_options)
    order, placement = study.study.get("order"), study.study.get("placement")
    if isinstance(order, dict) and order.get("kind") == "as_listed":
        yield "Settings were measured in the order listed: drift looks like an effect of a factor."
    if isinstance(placement, dict) and placement.get("kind") == "pinned" and len(nodes) > 1:
        yield "Every setting has one node: differences between settings may be differences between nodes."
    if len(nodes) == 1:
        yield "One node measured everything: whether it is typical cannot be told."
    elif len(nodes) > 1 and not (isinstance(placement, dict) and placement.get("kind") == "pinned"):
        yield f"The runs of a configuration come from up to {len(nodes)} nodes: those that differ look like modes."
    if prepared.frequency == AS_IS:
        yield "CPU frequency was not pinned: it may follow temperature and load."
    if prepared.drop_caches is Cadence.NEVER and not study.engine_options.get("direct"):
        yield "The page cache was not dropped: reads of files that fit into memory may measure memory."


def _of_runs(subject: Subject) -> Iterator[str]:
    progress, campaign = subject.progress, subject.campaign
    invalid = sum(share.invalid for share in progress.nodes)
    made = progress.valid_runs + invalid
    if made and invalid / made > MANY_INVALID:
        yield f"{invalid / made:.0%} of the runs were invalid: what made them so may go with throughput."
    if campaign.missing:
        missing = counted(sum(campaign.missing.values()), "run")
        yield f"{missing} missing: what kept them from being made may go with throughput."
    short = sum(one.valid_runs < FEW for one in subject.configurations)
    if short:
        yield f"{counted(short, 'configuration')} with fewer than {FEW} runs: undecided whatever their shape."
