"""Who may: tokens, sign-ins, the audit log."""

from migrations.sql import run_sql

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Three tables."""
    run_sql("0004_access.sql")
