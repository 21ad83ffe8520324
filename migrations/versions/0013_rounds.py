"""Campaigns that grow: after a round of measuring, a policy says how many runs each setting shall have."""

from migrations.sql import run_sql

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """One table, two columns."""
    run_sql("0013_rounds.sql")
