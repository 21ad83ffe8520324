"""Nodes: whether they work, what they did, and how they differ from each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from orchestrator.contracts.errors import NotFoundError
from orchestrator.contracts.nodes import Node, NodeState
from orchestrator.contracts.overviews import NodeWork
from orchestrator.contracts.rates import NodeRate
from orchestrator.node_facts import ABSENT, flat, told
from orchestrator.store.ports import Store
from orchestrator.store.rules import LOST_AFTER_S


class Standing(StrEnum):
    """A node's state in one word."""

    READY = "ready"
    RUNNING = "running"
    DRAINING = "draining"
    QUARANTINED = "quarantined"
    OFFLINE = "offline"
    LOST = "lost"
    """Offline for so long that others have its share."""
    AWAITED = "awaited"
    """A study names it; its agent has never reported."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """One fact of a node, beside what most of the others say."""

    name: str
    value: str
    common: str | None
    """The most frequent value among the other nodes; None: there is no other."""
    agreeing: int
    """How many of the others say `common`."""

    @property
    def differs(self) -> bool:
        """Is this node unlike most?"""
        return self.common is not None and self.value != self.common

    @property
    def told(self) -> str:
        """This node's value, with its unit."""
        return told(self.name, self.value)

    @property
    def told_common(self) -> str | None:
        """The others' value, with its unit."""
        return None if self.common is None else told(self.name, self.common)


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A node in the list."""

    node: Node
    work: NodeWork
    standing: Standing
    differing: int
    """Facts in which it is unlike most of the others."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """One node."""

    line: Line
    rate: NodeRate | None
    """How fast it works while nothing holds it up, for the campaign it worked for last."""
    facts: tuple[Fact, ...]
    others: int


def gather(store: Store) -> tuple[Line, ...]:
    """All nodes, by name."""
    nodes = store.nodes.all()
    work = {one.node: one for one in store.overviews.nodes()}
    known = {node.name: flat(node.facts) for node in nodes if node.facts}
    counts = _counted(known.values())
    return tuple(
        Line(
            node=node,
            work=work[node.name],
            standing=standing(node),
            differing=sum(fact.differs for fact in _compared(known.get(node.name), counts, len(known) - 1)),
        )
        for node in nodes
        if node.name in work
    )


def one(store: Store, name: str) -> Content:
    """One node, compared with the others. Raises NotFoundError."""
    nodes = store.nodes.all()
    node = next((found for found in nodes if found.name == name), None)
    if node is None:
        raise NotFoundError(f"node {name}: there is none; its agent has never reported")
    known = {found.name: flat(found.facts) for found in nodes if found.facts}
    facts = _compared(known.get(name), _counted(known.values()), len(known) - 1)
    work = next(found for found in store.overviews.nodes() if found.node == name)
    line = Line(node=node, work=work, standing=standing(node), differing=sum(fact.differs for fact in facts))
    rate = next((found for found in store.rates.of_nodes() if found.node == name), None)
    return Content(line=line, rate=rate, facts=tuple(facts), others=len(known) - 1)


def standing(node: Node) -> Standing:
    """What matters first: what an operator did to it, then whether it is there, then whether it works."""
    if node.state is NodeState.QUARANTINED:
        return Standing.QUARANTINED
    if node.seen_s_ago is None:
        return Standing.AWAITED
    if not node.online:
        return Standing.LOST if node.seen_s_ago > LOST_AFTER_S else Standing.OFFLINE
    if node.state is NodeState.DRAINING:
        return Standing.DRAINING
    return Standing.READY if node.job_id is None else Standing.RUNNING


def _counted(known: Iterable[Mapping[str, str]]) -> dict[str, Counter[str]]:
    """Fact -> how many nodes say what."""
    counts: dict[str, Counter[str]] = {}
    for facts in known:
        for name, value in facts.items():
            counts.setdefault(name, Counter())[value] += 1
    return counts


def _compared(mine: Mapping[str, str] | None, counts: Mapping[str, Counter[str]], others: int) -> list[Fact]:
    """This node's facts beside the others'; those it lacks and others have are absent."""
    if mine is None:
        return []
    found = []
    for name, values in sorted(counts.items()):
        value = mine.get(name, ABSENT)
        theirs = values - Counter({value: 1}) if name in mine else Counter(values)
        silent = others - theirs.total()
        if silent > 0:
            theirs[ABSENT] += silent
        common, agreeing = max(theirs.items(), key=lambda pair: (pair[1], pair[0] == value), default=(None, 0))
        found.append(Fact(name=name, value=value, common=common, agreeing=agreeing))
    return found
