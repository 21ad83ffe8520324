"""Counters in slots, so that agents that count at the same time do not wait for each other."""

from migrations.sql import run_sql

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """One more column in two keys."""
    run_sql("0010_counting_slots.sql")
