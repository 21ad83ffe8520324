"""Confirming verdicts of re-runs."""

from migrations.sql import run_sql

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """One column."""
    run_sql("0011_confirmations.sql")
