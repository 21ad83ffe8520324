"""Taking runs in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import text

from orchestrator.contracts.runs import Receipt, Run
from orchestrator.store.postgres.connection import Database
from orchestrator.store.telemetry import pack

_BLOCK = {
    "campaigns": "integer", "settings": "integer", "jobs": "bigint", "attempts": "smallint", "sessions": "uuid",
    "engines": "text", "versions": "text", "settles": "real", "packed": "bytea",
}  # fmt: skip
_RUN = {
    "block": "integer", "ids": "uuid", "replicates": "integer", "tries": "smallint", "sequences": "integer",
    "previous": "integer", "started": "double precision", "elapsed": "real", "exits": "smallint", "valid": "boolean",
    "reasons": "text", "values": "text",
}  # fmt: skip
_ARGUMENTS = ", ".join(f"CAST(:{name} AS {kind}[])" for name, kind in (_BLOCK | _RUN).items())
_RECORD = text(f"SELECT run_id, outcome FROM record({_ARGUMENTS})")  # noqa: S608 - names of our own


class PostgresRuns:
    """One function call a batch, whatever its size."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, runs: Sequence[Run]) -> Receipt:
        """Take in a batch, idempotent per run id."""
        if not runs:
            return Receipt()
        batch = _arrays(runs)
        with self._database.calling() as connection:
            outcomes = {row.run_id: row.outcome for row in connection.execute(_RECORD, batch)}
        return _receipt(runs, outcomes)


def _arrays(runs: Sequence[Run]) -> dict[str, list[Any]]:
    """A list per argument of the SQL function `record`: by block, then by run."""
    blocks: dict[tuple[Any, ...], list[Run]] = {}
    for run in runs:
        of = (run.campaign_id, run.setting_id, run.job_id, run.attempt, run.session)
        blocks.setdefault((*of, run.engine, run.engine_version, run.settle_s), []).append(run)
    of_blocks = [(*block, _packed(members)) for block, members in blocks.items()]
    of_runs = [
        (
            place, run.id, run.replicate, run.try_number, run.sequence, run.previous_setting_id, run.started_at,
            run.elapsed_s, run.exit_status, run.valid, run.reason, f"{{{','.join(map(repr, run.values))}}}",
        )
        for place, members in enumerate(blocks.values(), start=1)
        for run in members
    ]  # fmt: skip
    columns = [*zip(*of_blocks, strict=True), *zip(*of_runs, strict=True)]
    return {name: list(column) for name, column in zip((*_BLOCK, *_RUN), columns, strict=True)}


def _packed(runs: Sequence[Run]) -> bytes | None:
    """What was told and observed; None when that is nothing."""
    if not any(run.details or run.observed for run in runs):
        return None
    return pack([{"sequence": run.sequence, "details": run.details, "observed": run.observed} for run in runs])


def _receipt(runs: Sequence[Run], outcomes: Mapping[UUID, str]) -> Receipt:
    sorted_out: dict[str, list[UUID]] = {}
    for run in runs:
        outcome = outcomes.get(run.id, "valid" if run.valid else "invalid")
        sorted_out.setdefault(outcome, []).append(run.id)
    return Receipt(**{outcome: tuple(ids) for outcome, ids in sorted_out.items()})
