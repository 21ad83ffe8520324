"""The ledger: campaigns, settings, jobs, nodes, runs, analyses, and the functions through which agents speak to it."""

from migrations.sql import run_sql

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make tables first, then the functions that work on them."""
    run_sql("0001_tables.sql")
    run_sql("0001_functions.sql")
