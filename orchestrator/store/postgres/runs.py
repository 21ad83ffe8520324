"""Taking runs in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import column, func, select, type_coerce
from sqlalchemy.dialects.postgresql import JSONB

from orchestrator.contracts.runs import Receipt, Run
from orchestrator.store.postgres.connection import Database


class PostgresRuns:
    """One function call a batch, whatever its size."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, runs: Sequence[Run]) -> Receipt:
        """Take in a batch, idempotent per run id."""
        if not runs:
            return Receipt()
        batch = type_coerce([run.as_dict() for run in runs], JSONB)
        outcomes = func.record(batch).table_valued(column("run_id"), column("outcome"))
        with self._database.writing() as connection:
            rows = connection.execute(select(outcomes.c.run_id, outcomes.c.outcome)).all()
        return _receipt(rows)


def _receipt(rows: Sequence[Any]) -> Receipt:
    sorted_out: dict[str, list[UUID]] = {}
    for run_id, outcome in rows:
        sorted_out.setdefault(outcome, []).append(run_id)
    return Receipt(**{outcome: tuple(ids) for outcome, ids in sorted_out.items()})
