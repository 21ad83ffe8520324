"""Which nodes measured: what they are, what they measured with, and what they did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orchestrator import node_facts
from orchestrator.contracts.campaigns import NodeShare
from orchestrator.contracts.findings import EngineUse
from orchestrator.report.section import Section, Subject

MOST = 200
"""Rows on paper."""
FACTS = {
    "processor": ("processor.model",),
    "CPUs": ("processor.cpus",),
    "memory": ("memory_kb",),
    "kernel": ("kernel.release",),
    "disk": ("device.model", "device.size_bytes"),
    "file system": ("target.file_system",),
}
"""Column -> facts that it tells."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One node."""

    share: NodeShare
    facts: tuple[str, ...]
    """In the order of `FACTS`, as they are now."""
    engines: str
    first_at: float | None
    """Start of its first valid run."""
    last_at: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """The nodes that have a run in this campaign."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    """At most `MOST`."""
    nodes: int


def gather(subject: Subject) -> Section | None:
    """Nothing before the first run."""
    shares = subject.progress.nodes
    if not shares:
        return None
    known = {node.name: node_facts.flat(node.facts) for node in subject.store.nodes.all()}
    used = subject.store.findings.engines(subject.campaign.id)
    content = Content(
        columns=tuple(FACTS),
        rows=tuple(
            _row(share, known.get(share.node, {}), [one for one in used if one.node == share.node])
            for share in shares[:MOST]
        ),
        nodes=len(shares),
    )
    return Section(title="Nodes", template="nodes.html", content=content)


def _row(share: NodeShare, facts: Mapping[str, str], used: Sequence[EngineUse]) -> Row:
    return Row(
        share=share,
        facts=tuple(_told(facts, names) for names in FACTS.values()),
        engines=", ".join(f"{one.engine} {one.version}" for one in used) or "–",
        first_at=min((one.first_at for one in used), default=None),
        last_at=max((one.last_at for one in used), default=None),
    )


def _told(facts: Mapping[str, str], names: Sequence[str]) -> str:
    found = [
        node_facts.in_short(name, facts[name])
        for name in names
        if facts.get(name, node_facts.ABSENT) != node_facts.ABSENT
    ]
    return ", ".join(found) or "–"
