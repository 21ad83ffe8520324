"""Who can do the work."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from sqlalchemy import func, select, text, type_coerce, update
from sqlalchemy.dialects.postgresql import JSONB

from orchestrator.contracts.access import Act, Deed
from orchestrator.contracts.errors import NotFoundError
from orchestrator.contracts.nodes import Hello, Node, NodeState
from orchestrator.store.models import Node as NodeRow
from orchestrator.store.postgres import audit
from orchestrator.store.postgres.connection import Database

_ALL = text("""
    SELECT name, state, reason, online, engines, facts, job_id,
           extract(epoch FROM clock_timestamp() - seen_at)::float8 AS seen_s_ago
    FROM node_status ORDER BY name
""")


class PostgresNodes:
    """Nodes and their sessions."""

    def __init__(self, database: Database, act: Act | None = None) -> None:
        self._database = database
        self._act = act

    def hello(self, hello: Hello) -> None:
        """Register the node, and open the session if it is new."""
        call = func.hello(
            hello.node, hello.session, hello.boot_id, hello.version,
            type_coerce(dict(hello.engines), JSONB), type_coerce(dict(hello.facts), JSONB),
            hello.spool_runs,
        )  # fmt: skip
        with self._database.calling() as connection:
            connection.execute(select(call))

    def goodbye(self, session: UUID) -> None:
        """The agent stops in good order."""
        with self._database.calling() as connection:
            connection.execute(select(func.goodbye(session)))

    def all(self) -> list[Node]:
        """By name."""
        with self._database.calling() as connection:
            return [_node(row) for row in connection.execute(_ALL)]

    def drain(self, name: str) -> Node:
        """Give a node no more work; its offers are not claimed any more, and withdrawn by the controller."""
        return self._change(name, Deed.NODE_DRAINED, state=NodeState.DRAINING, reason=None)

    def reinstate(self, name: str) -> Node:
        """Let a quarantined or draining node work again."""
        return self._change(
            name, Deed.NODE_REINSTATED, state=NodeState.READY, reason=None, strikes=0, struck_job_id=None
        )

    def _change(self, name: str, what: Deed, **values: object) -> Node:
        with self._database.writing() as connection:
            change = update(NodeRow).where(NodeRow.name == name).values(**values)
            if connection.execute(change).rowcount == 0:
                raise NotFoundError(f"there is no node {name!r}; `modescope node list` shows those there are")
            audit.write(connection, self._act, what, f"node {name}")
        return next(node for node in self.all() if node.name == name)


def _node(row: Any) -> Node:
    return Node(
        name=row.name,
        state=NodeState(row.state),
        reason=row.reason,
        online=row.online,
        seen_s_ago=row.seen_s_ago,
        engines=row.engines,
        facts=row.facts,
        job_id=row.job_id,
    )
