"""What PostgreSQL's planner knows of a study."""

from __future__ import annotations

import psycopg
import pytest

from orchestrator.store.postgres import PostgresStore, campaigns
from tests.contract.studies import study


def test_a_large_study_is_known_to_the_planner_as_soon_as_it_is_submitted(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaigns, "MANY_JOBS", 12)
    store = PostgresStore(database_url)
    try:
        store.campaigns.submit(study(settings=3, replicates=4, per_job=1))
    finally:
        store.close()
    with psycopg.connect(database_url) as connection:
        query = "SELECT relname, reltuples FROM pg_class WHERE oid IN ('settings'::regclass, 'jobs'::regclass)"
        assert dict(connection.execute(query).fetchall()) == {"settings": 3, "jobs": 12}
