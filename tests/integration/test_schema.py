"""The database's schema, on a real PostgreSQL."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import resources
from pathlib import Path

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from orchestrator.contracts.analyses import options_digest
from orchestrator.contracts.errors import SchemaError, UnavailableError
from orchestrator.store import schema
from orchestrator.store.models import Base
from orchestrator.store.postgres import PostgresStore, counters
from orchestrator.store.postgres.connection import connect
from tests.contract.agents import Agent


def test_upgrading_an_empty_database_brings_it_to_the_newest_version_and_again_changes_nothing(
    empty_database_url: str,
) -> None:
    schema.upgrade(empty_database_url)
    found, newest = schema.current(empty_database_url)
    schema.upgrade(empty_database_url)
    assert found == newest


def test_the_typed_models_name_every_table_and_column_of_the_migrations(database_url: str) -> None:
    with connect(database_url).connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        changes = [
            change[0] if isinstance(change, list) else change for change in compare_metadata(context, Base.metadata)
        ]
    # Keys, indexes and rules live in the migrations alone; the models are for asking.
    structural = ("add_table", "remove_table", "add_column", "remove_column", "modify_type", "modify_nullable")
    assert [change for change in changes if change[0] in structural] == []


def test_a_database_of_a_newer_version_is_refused_in_one_line(database_url: str) -> None:
    with connect(database_url).begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaError, match="newer than this version"):
        schema.upgrade(database_url)
    with pytest.raises(SchemaError, match="9999"):
        schema.require_current(database_url)


def test_functions_that_differ_from_the_source_are_replaced_with_their_triggers(database_url: str) -> None:
    with connect(database_url).begin() as connection:
        connection.execute(text("CREATE FUNCTION tell(text) RETURNS int LANGUAGE sql AS 'SELECT 1'"))
        connection.execute(text("UPDATE ledger SET functions_digest = 'of an earlier version'"))
    with pytest.raises(SchemaError, match="modescope db upgrade"):
        schema.require_current(database_url)
    schema.upgrade(database_url)
    schema.require_current(database_url)
    with connect(database_url).connect() as connection:
        named_tell = connection.execute(text("SELECT count(*) FROM pg_proc WHERE proname = 'tell'")).scalar_one()
        triggers = connection.execute(text("SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal")).scalar_one()
    assert (named_tell, triggers) == (1, 5)


def first_ledger(url: str) -> None:
    """A database as migration 0001 left it, with a campaign in the middle of its life."""
    tables = resources.files("migrations.sql").joinpath("0001_tables.sql").read_text(encoding="utf-8")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(tables.encode())
        connection.execute("CREATE TABLE alembic_version (version_num varchar(32) NOT NULL PRIMARY KEY)")
        connection.execute("INSERT INTO alembic_version VALUES ('0001')")
        connection.execute(FIRST_ROWS)


FIRST_ROWS = b"""
    INSERT INTO nodes (name) VALUES ('n1');
    INSERT INTO sessions (key, node_id, boot_id, version) VALUES (gen_random_uuid(), 1, 'b', '0.1.0');
    INSERT INTO campaigns (name, study, digest, factors, engine, engine_options, node_options, analysis_options,
        controls, placement, replicates, max_tries, setting_count, configuration_count)
    VALUES ('old', '{}', 'd', '{threads}', 'builtin', '{}', '{}', '{}', '{}', 'any', 3, 3, 2, 4);
    INSERT INTO settings (campaign_id, ordinal, levels, modes, valid_runs)
        VALUES (1, 0, '[1]', '{readers,rewriters}', 2), (1, 1, '[2]', '{readers,rewriters}', 3);
    INSERT INTO jobs (campaign_id, setting_id, block, position, first_replicate, replicates) VALUES (1, 1, 0, 0, 0, 3);
    INSERT INTO jobs (campaign_id, setting_id, block, position, first_replicate, replicates, state, node_id)
        VALUES (1, 2, 0, 1, 0, 3, 'done', 1);
    INSERT INTO job_counts VALUES (1, 'queued', 1), (1, 'done', 1);
    INSERT INTO job_failures (job_id, attempt, node_id, kind, fruitless, reason) VALUES (1, 1, 1, 'engine', true, 'x');
    INSERT INTO engine_builds (name, version) VALUES ('builtin', '1');
    INSERT INTO runs (id, job_id, started_at, elapsed_s, setting_id, replicate, session_id, sequence, attempt,
                      try_number, engine_build_id, exit_status, validity, reason, "values", details, observed)
    VALUES (gen_random_uuid(), 1, now(), 0.5, 1, 0, 1, 1, 1, 0, 1, 0, 'valid', NULL, '{1.5,2.5}', '{"a": 1}', NULL),
           (gen_random_uuid(), 1, now(), 0.5, 1, 1, 1, 2, 1, 0, 1, 0, 'valid', NULL, '{3.5,4.5}', NULL, '{"b": 2}'),
           (gen_random_uuid(), 1, now(), 0.5, 1, 2, 1, 3, 1, 0, 1, 1, 'invalid', 'it broke', '{}', NULL, NULL);
    INSERT INTO runs (id, job_id, started_at, elapsed_s, setting_id, replicate, session_id, sequence, attempt,
                      try_number, engine_build_id, exit_status, validity, "values")
        SELECT gen_random_uuid(), 2, now(), 0.5, 2, k, 1, 4 + k, 1, 0, 1, 0, 'valid', '{7,8}'
        FROM generate_series(0, 2) AS k;
    INSERT INTO shares VALUES (1, 1, 5, 1, 0);
    INSERT INTO analyses (campaign_id, setting_id, mode, digest, state, verdict, final)
        VALUES (1, 2, 'readers', 'd', 'done', 'unimodal', true);
    INSERT INTO events (kind, message, campaign_id) VALUES ('campaign_complete', 'not yet', 1);
"""


def test_the_first_ledger_is_upgraded_with_all_its_rows_and_its_campaign_goes_on(empty_database_url: str) -> None:
    first_ledger(empty_database_url)
    with pytest.raises(SchemaError, match=r"is 0001\., this version wants .*; run `modescope db upgrade`"):
        schema.require_current(empty_database_url)
    schema.upgrade(empty_database_url)
    schema.require_current(empty_database_url)
    store = PostgresStore(empty_database_url)
    try:
        rows = list(store.campaigns.export(1))
        assert [row.value for row in rows] == [1.5, 2.5, 3.5, 4.5, None, None] + [7, 8] * 3
        assert [row.valid for row in rows] == ["valid"] * 4 + ["invalid"] * 2 + ["valid"] * 6
        assert [row.reason for row in rows] == [None] * 4 + ["it broke"] * 2 + [None] * 6
        told = [{"details": {"a": 1}, "observed": {}}, {"details": {}, "observed": {"b": 2}}]
        assert sorted(store.runs.told(1).values(), key=str) == sorted(told, key=str)
        progress = store.campaigns.progress(1)
        assert (progress.valid_runs, progress.invalid_runs, dict(progress.jobs)) == (5, 1, {"queued": 1, "done": 1})
        assert dict(progress.verdicts) == {"unimodal": 1}
        (version,) = store.versions.of_campaign(1)
        assert (version.shown, version.digest) == (True, options_digest(version.options))
        assert counters.differences(empty_database_url) == []
        agent = Agent(store, "n1")  # type: ignore[arg-type]  # it needs nothing of a store under test here
        agent.work_off()
        assert store.campaigns.get(1).state == "complete"
    finally:
        store.close()


def test_an_upgrade_that_cannot_have_its_locks_gives_up_in_one_line_and_changes_nothing(
    empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_ledger(empty_database_url)
    monkeypatch.setattr(schema, "LOCK_TIMEOUT", "200ms")
    with psycopg.connect(empty_database_url) as somebody:
        somebody.execute("SELECT count(*) FROM campaigns")  # and the transaction stays open
        with pytest.raises(UnavailableError, match="held a table for more than 200ms, and nothing was changed"):
            schema.upgrade(empty_database_url)
    with connect(empty_database_url).connect() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == "0001"
        assert connection.execute(text("SELECT to_regclass('tokens')")).scalar_one() is None
    schema.upgrade(empty_database_url)
    schema.require_current(empty_database_url)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE alembic_version SET version_num = '9999'",
        "UPDATE alembic_version SET version_num = '0001'",
        "UPDATE ledger SET functions_digest = 'another'",
    ],
)
@pytest.mark.parametrize("part", [("controller",), ("agent", "--node", "n1"), ("analysis-worker",), ("db", "current")])
def test_no_part_works_on_a_schema_it_does_not_know(
    database_url: str, tmp_path: Path, change: str, part: tuple[str, ...]
) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute(change.encode())
    ended = subprocess.run(
        [sys.executable, "-m", "orchestrator.cli.main", *part],
        env={
            **os.environ,
            "MODESCOPE_DATABASE_URL": database_url,
            "MODESCOPE_REDIS_URL": "redis://127.0.0.1:1/0",
            "MODESCOPE_HOME": str(tmp_path),
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith("modescope: the database's schema is ")
    assert ended.stderr.count("\n") == 1
