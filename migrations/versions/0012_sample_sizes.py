"""Settings with a number of replicates of their own: what was measured elsewhere rarely has equal ones."""

from migrations.sql import run_sql

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Two columns."""
    run_sql("0012_sample_sizes.sql")
