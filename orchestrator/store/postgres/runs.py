"""Taking runs in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import text

from orchestrator.contracts.runs import Receipt, Run
from orchestrator.store.postgres.connection import Database
from orchestrator.store.telemetry import pack_blocks, unpack

_OF_BLOCK = ("integer", "integer", "bigint", "smallint", "uuid", "text", "text", "real", "bytea")
_OF_RUN = (
    "integer", "uuid", "integer", "smallint", "integer", "integer", "double precision", "real", "smallint", "boolean",
    "text", "text",
)  # fmt: skip
ARGUMENTS = ", ".join(f"%s::{kind}[]" for kind in _OF_BLOCK + _OF_RUN)
"""What `arrays` makes, as the SQL function `record` takes it."""
_RECORD = f"SELECT run_id, outcome FROM record({ARGUMENTS})"  # noqa: S608 - types of our own
_TOLD = text("""
    SELECT b.packed, r.sequences, r.ids FROM (
        SELECT telemetry_id, array_agg(sequence) AS sequences, array_agg(id) AS ids
        FROM (
            SELECT telemetry_id, sequence, id FROM runs WHERE setting_id = :setting AND validity = 'valid'
            UNION ALL SELECT telemetry_id, sequence, id FROM runs WHERE setting_id = :setting AND validity <> 'valid'
        ) AS either GROUP BY telemetry_id  -- two partial indexes hold each run once
    ) AS r JOIN telemetry AS b ON b.id = r.telemetry_id
""")
_NEEDS_ESCAPE = re.compile(r'(["\\])')


class PostgresRuns:
    """One function call a batch, whatever its size."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, runs: Sequence[Run]) -> Receipt:
        """Take in a batch, idempotent per run id."""
        if not runs:
            return Receipt()
        batch = arrays(runs)
        with self._database.calling() as connection:
            outcomes: dict[UUID, str] = dict(connection.exec_driver_sql(_RECORD, batch).all())
        return receipt(runs, outcomes)

    def told(self, setting_id: int) -> dict[UUID, Mapping[str, Any]]:
        """`details` and `observed` of the setting's runs, by run id."""
        with self._database.reading() as connection:
            rows = connection.execute(_TOLD, {"setting": setting_id}).all()
        found: dict[UUID, Mapping[str, Any]] = {}
        for row in rows:
            runs = dict(zip(row.sequences, row.ids, strict=True))
            for record in unpack(row.packed):
                if record["sequence"] in runs and (record["details"] or record["observed"]):
                    found[runs[record["sequence"]]] = {name: record[name] for name in ("details", "observed")}
        return found


def arrays(runs: Sequence[Run]) -> tuple[str, ...]:
    """The arguments of the SQL function `record`, each an array's text: by block, then by run."""
    if not runs:
        return ("{}",) * len(_OF_BLOCK + _OF_RUN)
    blocks: dict[tuple[Any, ...], list[Run]] = {}
    for run in runs:
        of = (run.campaign_id, run.setting_id, run.job_id, run.attempt, run.session)
        blocks.setdefault((*of, run.engine, run.engine_version, run.settle_s), []).append(run)
    of_blocks = [
        (*block[:5], _quoted(block[5]), _quoted(block[6]), block[7], packed)
        for block, packed in zip(blocks, _packed([*blocks.values()]), strict=True)
    ]
    of_runs = [
        (
            place, run.id.hex, run.replicate, run.try_number, run.sequence, run.previous_setting_id, run.started_at,
            run.elapsed_s, run.exit_status, run.valid, None if run.reason is None else _quoted(run.reason),
            f'"{{{",".join(map(repr, run.values))}}}"',
        )
        for place, members in enumerate(blocks.values(), start=1)
        for run in members
    ]  # fmt: skip
    return (*map(_array, zip(*of_blocks, strict=True)), *map(_array, zip(*of_runs, strict=True)))


def _array(values: Iterable[object]) -> str:
    """PostgreSQL's text of an array. The driver's own way of sending a list takes longer than storing its run."""
    return "{" + ",".join(["NULL" if value is None else str(value) for value in values]) + "}"


def _quoted(words: str) -> str:
    return '"' + _NEEDS_ESCAPE.sub(r"\\\1", words) + '"'


def _packed(blocks: Sequence[Sequence[Run]]) -> list[str | None]:
    """What was told and observed, by block; None where that is nothing."""
    told = [any(run.details or run.observed for run in runs) for runs in blocks]
    packed = iter(pack_blocks([_records(runs) for runs, any_told in zip(blocks, told, strict=True) if any_told]))
    return [rf'"\\x{next(packed).hex()}"' if any_told else None for any_told in told]


def _records(runs: Sequence[Run]) -> list[Mapping[str, Any]]:
    return [{"sequence": run.sequence, "details": run.details, "observed": run.observed} for run in runs]


def receipt(runs: Sequence[Run], outcomes: Mapping[UUID, str]) -> Receipt:
    """What became of each, by what `record` said of some."""
    sorted_out: dict[str, list[UUID]] = {}
    for run in runs:
        outcome = outcomes.get(run.id, "valid" if run.valid else "invalid")
        sorted_out.setdefault(outcome, []).append(run.id)
    return Receipt(**{outcome: tuple(ids) for outcome, ids in sorted_out.items()})
