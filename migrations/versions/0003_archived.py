"""A campaign may be archived: its rows in files, and only its counters here."""

from migrations.sql import run_sql

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Two columns."""
    run_sql("0003_archived.sql")
