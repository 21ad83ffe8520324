"""Flags that a re-run measured again are judged one by one."""

from migrations.sql import run_sql

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """One table, of work in progress."""
    run_sql("0017_repeated_flags.sql")
