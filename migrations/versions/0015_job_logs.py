"""Logs of jobs from elsewhere: scheduler, Darshan, LMT."""

from migrations.sql import run_sql

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Five tables."""
    run_sql("0015_job_logs.sql")
