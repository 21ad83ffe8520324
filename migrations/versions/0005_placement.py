"""Whose share of a campaign is whose: dealt, kept for a while, given to others."""

from migrations.sql import run_sql

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """One table, a few columns, the indexes that dispatch looks in."""
    run_sql("0005_placement.sql")
