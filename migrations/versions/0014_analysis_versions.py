"""Versions of a campaign's analysis: what was submitted, and what was changed afterwards, and why."""

from __future__ import annotations

import hashlib
import json
from typing import Any, cast

import psycopg
from alembic import op

from migrations.sql import run_sql

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """One table, two columns; what was submitted so far is version 1."""
    run_sql("0014_analysis_versions.sql")
    driver = cast(psycopg.Connection[Any], op.get_bind().connection.driver_connection)
    with driver.cursor() as cursor:
        known = cursor.execute("SELECT id, analysis_options FROM campaigns").fetchall()
        cursor.executemany(
            "INSERT INTO analysis_versions (campaign_id, number, options, digest, why, made_at)"
            " SELECT id, 1, analysis_options, %s, '', created_at FROM campaigns WHERE id = %s",
            [(_digest(options), campaign_id) for campaign_id, options in known],
        )


def _digest(options: dict[str, Any]) -> str:
    """As contracts/analyses.py makes it of what is submitted from now on."""
    canonical = json.dumps(options, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()
