"""What monitoring asks for: how long fits take, and what waits in the nodes' spools."""

from migrations.sql import run_sql

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Two columns, one with its index."""
    run_sql("0009_figures.sql")
