"""Nodes and sessions in memory, and who is online."""

from __future__ import annotations

from uuid import UUID

from orchestrator.contracts.access import Act, Deed
from orchestrator.contracts.errors import NotFoundError
from orchestrator.contracts.nodes import Hello, Node, NodeState
from orchestrator.store.memory import transitions
from orchestrator.store.memory.tables import NodeRow, SessionRow, Tables, transaction
from orchestrator.store.rules import ONLINE_S


class Nodes:
    """See `ports.Nodes`."""

    def __init__(self, tables: Tables, act: Act | None = None) -> None:
        self.tables = tables
        self._act = act

    @transaction
    def hello(self, hello: Hello) -> None:
        session = self.tables.sessions.get(hello.session)
        if session is None:
            session = self._open(hello)
        session.seen_at = self.tables.now()
        if not session.ended:
            session.node.hello = hello
        self.tables.notify()

    @transaction
    def goodbye(self, session: UUID) -> None:
        found = self.tables.sessions.get(session)
        if found is None or found.ended:
            return
        found.ended = True
        withdraw_offers(self.tables, found.node)
        self.tables.notify()

    @transaction
    def all(self) -> list[Node]:
        return [_shown(self.tables, node) for _, node in sorted(self.tables.nodes.items())]

    @transaction
    def drain(self, name: str) -> Node:
        node = self._named(name)
        node.state, node.reason = NodeState.DRAINING, None
        withdraw_offers(self.tables, node)
        self.tables.audit(self._act, Deed.NODE_DRAINED, f"node {name}")
        self.tables.notify()
        return _shown(self.tables, node)

    @transaction
    def reinstate(self, name: str) -> Node:
        node = self._named(name)
        node.state, node.reason = NodeState.READY, None
        node.strikes, node.last_strike = 0, None
        self.tables.audit(self._act, Deed.NODE_REINSTATED, f"node {name}")
        self.tables.notify()
        return _shown(self.tables, node)

    def _named(self, name: str) -> NodeRow:
        node = self.tables.nodes.get(name)
        if node is None:
            raise NotFoundError(f"node {name}: there is none; its agent has never reported")
        return node

    def _open(self, hello: Hello) -> SessionRow:
        node = self.tables.nodes.setdefault(hello.node, NodeRow(name=hello.node, hello=hello))
        if node.session is not None:
            node.session.ended = True
        session = SessionRow(id=hello.session, node=node, seen_at=self.tables.now())
        self.tables.sessions[session.id] = node.session = session
        return session


def seen(tables: Tables, session: UUID | None) -> SessionRow | None:
    """The session, which has just been heard of; None when it is unknown or has ended."""
    found = tables.sessions.get(session) if session is not None else None
    if found is None or found.ended:
        return None
    found.seen_at = tables.now()
    return found


def online(tables: Tables, node: NodeRow) -> bool:
    """Its agent has a session and was heard of lately, or is silent because it measures."""
    if node.session is None or node.session.ended:
        return False
    measuring = node.leased is not None and node.leased.lease_until > tables.now()
    return measuring or tables.now() - node.session.seen_at <= ONLINE_S


def working(tables: Tables) -> list[NodeRow]:
    """Nodes that are online and ready, by name."""
    return [node for _, node in sorted(tables.nodes.items()) if node.state is NodeState.READY and online(tables, node)]


def in_hand(node: NodeRow) -> int:
    """How many jobs are offered or leased to it."""
    return len(node.offered) + (node.leased is not None)


def withdraw_offers(tables: Tables, node: NodeRow) -> None:
    """What the node was offered goes back to the queue."""
    for job in list(node.offered):
        transitions.queue(tables, job)


def _shown(tables: Tables, node: NodeRow) -> Node:
    return Node(
        name=node.name,
        state=node.state,
        reason=node.reason,
        online=online(tables, node),
        seen_s_ago=None if node.session is None else tables.now() - node.session.seen_at,
        engines=dict(node.hello.engines),
        facts=dict(node.hello.facts),
        job_id=None if node.leased is None else node.leased.id,
    )
