"""Which nodes measured, what they are, and which runs did not count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.contracts.campaigns import NodeShare
from orchestrator.contracts.nodes import Node
from orchestrator.report.section import Section, Subject


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """Nodes and their runs."""

    shares: tuple[NodeShare, ...]
    nodes: tuple[Node, ...]
    """Those that have a run in this campaign."""
    invalid_reasons: Mapping[str, int]


def gather(subject: Subject) -> Section | None:
    """What each node did."""
    at_work = {share.node for share in subject.progress.nodes}
    content = Content(
        shares=subject.progress.nodes,
        nodes=tuple(node for node in subject.store.nodes.all() if node.name in at_work),
        invalid_reasons=subject.store.campaigns.invalid_reasons(subject.campaign.id),
    )
    return Section(title="Runs and nodes", template="nodes.html", content=content)
