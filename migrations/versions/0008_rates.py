"""Service rates of nodes, time left of campaigns, and when a job was done."""

from migrations.sql import run_sql

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Two small tables, one column with its index."""
    run_sql("0008_rates.sql")
