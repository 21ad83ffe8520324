"""Runs in half the space, with their telemetry packed beside them; analyses are counted as they go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, cast

import psycopg
from alembic import op

from migrations.sql import run_sql
from orchestrator.store.telemetry import pack

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """New tables; then the runs move, a block at a time."""
    run_sql("0006_packed_runs.sql")
    driver = cast(psycopg.Connection[Any], op.get_bind().connection.driver_connection)
    with driver.cursor() as cursor, driver.cursor("runs_to_pack") as rows:
        cursor.execute("CREATE TEMP TABLE packed_blocks (job_id bigint, session_id integer, telemetry_id integer)")
        rows.execute(
            "SELECT job_id, session_id, sequence, details, observed FROM unpacked_runs"
            " WHERE details IS NOT NULL OR observed IS NOT NULL ORDER BY job_id, session_id, sequence"
        )
        for (job_id, session_id), block in groupby(rows, key=lambda row: row[:2]):
            cursor.execute(
                "WITH block AS (INSERT INTO telemetry (campaign_id, packed)"
                " SELECT campaign_id, %s FROM jobs WHERE id = %s RETURNING id)"
                " INSERT INTO packed_blocks SELECT %s, %s, id FROM block",
                [pack(list(_records(list(block)))), job_id, job_id, session_id],
            )
    run_sql("0006_move_runs.sql")


def _records(block: Sequence[Any]) -> Iterator[dict[str, Any]]:
    for _, _, sequence, details, observed in block:
        yield {"sequence": sequence, "details": details or {}, "observed": observed or {}}
