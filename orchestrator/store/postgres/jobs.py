"""The ledger of who does what: each call is one of the functions in migrations/functions/."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import func, select

from orchestrator.contracts.jobs import Assignment, Ending, Failure, Pending, Renewal, State
from orchestrator.store.models import Job, Node
from orchestrator.store.postgres.connection import Database


class PostgresJobs:
    """Claim, renew, finish."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(self, job_id: int, session: UUID) -> Assignment | None:
        """Lease the job to this session if it may be had now."""
        with self._database.calling() as connection:
            granted = connection.execute(select(func.claim(job_id, session))).scalar_one()
        return None if granted is None else _assignment(granted)

    def renew(self, job_id: int, token: UUID) -> Renewal:
        """Prolong the lease from now."""
        with self._database.calling() as connection:
            answer = connection.execute(select(func.renew(job_id, token))).scalar_one()
        return Renewal(granted=answer["granted"], stop=answer["stop"])

    def finish(self, job_id: int, token: UUID, ending: Ending, failure: Failure | None = None) -> bool:
        """Give the job back; False when the token no longer holds it."""
        kind, reason = (str(failure.kind), failure.reason) if failure is not None else (None, None)
        with self._database.calling() as connection:
            return bool(connection.execute(select(func.finish(job_id, token, str(ending), kind, reason))).scalar_one())

    def held_by(self, node: str) -> list[int]:
        """Jobs leased to any session of this node."""
        query = select(Job.id).join(Node, Node.id == Job.node_id).where(Node.name == node, Job.state == State.LEASED)
        with self._database.reading() as connection:
            return list(connection.execute(query).scalars())

    def release_node(self, node: str, session: UUID) -> list[int]:
        """Whatever the node's earlier sessions held goes back to the queue, as `lost`."""
        with self._database.calling() as connection:
            return list(connection.execute(select(func.release_node(node, session))).scalar_one())


def _assignment(granted: Mapping[str, Any]) -> Assignment:
    return Assignment(
        **{
            **granted,
            "token": UUID(granted["token"]),
            "ledger": UUID(granted["ledger"]),
            "factors": tuple(granted["factors"]),
            "levels": tuple(granted["levels"]),
            "modes": tuple(granted["modes"]),
            "pending": tuple(Pending(replicate=replicate, attempt=tried) for replicate, tried in granted["pending"]),
        }
    )
