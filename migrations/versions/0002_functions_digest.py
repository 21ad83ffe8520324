"""The ledger remembers which functions the ledger holds."""

from migrations.sql import run_sql

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """One column."""
    run_sql("0002_functions_digest.sql")
