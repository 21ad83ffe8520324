"""The ledger: campaigns, settings, jobs, nodes, runs, analyses."""

from migrations.sql import run_sql

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables; migrations/functions follow."""
    run_sql("0001_tables.sql")
