"""A sample's median and coefficient of variation, and each family's best BIC, stand beside its selection."""

from migrations.sql import run_sql

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Three columns, empty for what is there."""
    run_sql("0007_sample_summaries.sql")
