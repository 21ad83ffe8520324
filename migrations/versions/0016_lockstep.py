"""Rounds of several nodes that begin together, shares by rate, and nodes that hold rounds up."""

from migrations.sql import run_sql

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Two placements, four columns of jobs, one table."""
    run_sql("0016_lockstep.sql")
