"""The audit log: a change made on somebody's behalf writes its line in its own transaction."""

from __future__ import annotations

from sqlalchemy import Connection, insert

from orchestrator.contracts.access import Act, Deed
from orchestrator.store.models import AuditLine


def write(connection: Connection, act: Act | None, what: Deed, subject: str) -> None:
    """One line; none for what nobody asked for (`act` is None: the controller, an agent, a test)."""
    if act is not None:
        connection.execute(insert(AuditLine).values(who=act.who, what=what, subject=subject, origin=act.origin))
