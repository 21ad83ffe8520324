"""The ledger of who does what: each call is one of the functions in migrations/functions/."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import func, select

from orchestrator.contracts.errors import NotFoundError
from orchestrator.contracts.jobs import Assignment, Ending, Failure, HandedOver, Job, LineUp, Pending, Renewal, State
from orchestrator.contracts.runs import Run
from orchestrator.store.models import Job as JobRow
from orchestrator.store.models import Node
from orchestrator.store.postgres import standing
from orchestrator.store.postgres.connection import Database
from orchestrator.store.postgres.runs import ARGUMENTS, arrays, receipt
from orchestrator.store.rules import no_job
from orchestrator.store.standing import sentence

_HAND_OVER = f"SELECT hand_over({ARGUMENTS}, %s::bigint, %s::uuid, %s, %s, %s, %s::uuid)"


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

    def line_up(self, job_id: int, token: UUID) -> LineUp:
        """The node is prepared: when does its round begin?"""
        with self._database.calling() as connection:
            return LineUp(**connection.execute(select(func.line_up(job_id, token))).scalar_one())

    def finish(self, job_id: int, token: UUID, ending: Ending, failure: Failure | None = None) -> bool:
        """Give the job back; False when the token no longer holds it."""
        call = func.finish(job_id, token, str(ending), *_told(failure))
        with self._database.calling() as connection:
            return bool(connection.execute(select(call)).scalar_one())

    def hand_over(
        self,
        runs: Sequence[Run],
        job_id: int,
        token: UUID,
        ending: Ending,
        failure: Failure | None = None,
        *,
        next_for: UUID | None = None,
    ) -> HandedOver:
        """Take runs and job back, and lease the next."""
        given = (*arrays(runs), job_id, token, str(ending), *_told(failure), next_for)
        with self._database.calling() as connection:
            answer = connection.exec_driver_sql(_HAND_OVER, given).scalar_one()
        outcomes = {UUID(run_id): outcome for run_id, outcome in answer["outcomes"].items()}
        return HandedOver(
            receipt=receipt(runs, outcomes), next=None if answer["next"] is None else _assignment(answer["next"])
        )

    def held_by(self, node: str) -> list[int]:
        """Jobs leased to any session of this node."""
        query = select(JobRow.id).join(Node, Node.id == JobRow.node_id)
        query = query.where(Node.name == node, JobRow.state == State.LEASED)
        with self._database.reading() as connection:
            return list(connection.execute(query).scalars())

    def release_node(self, node: str, session: UUID) -> list[int]:
        """Whatever the node's earlier sessions held goes back to the queue, as `lost`."""
        with self._database.calling() as connection:
            return list(connection.execute(select(func.release_node(node, session))).scalar_one())

    def of_campaign(
        self, campaign_id: int, *, states: Sequence[State] = tuple(State), after: int = -1, limit: int = 100
    ) -> list[Job]:
        """A campaign's jobs in these states, in the order of their positions."""
        with self._database.reading() as connection:
            return standing.listed(connection, campaign_id, [str(state) for state in states], after, limit)

    def why(self, campaign_id: int, job_id: int) -> str:
        """Why this job does not run now, in one sentence."""
        with self._database.reading() as connection:
            found = standing.of(connection, campaign_id, job_id)
        if found is None:
            raise NotFoundError(no_job(campaign_id, job_id))
        return sentence(found)


def _told(failure: Failure | None) -> tuple[str | None, str | None]:
    return (None, None) if failure is None else (str(failure.kind), failure.reason)


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
