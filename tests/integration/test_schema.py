"""The database's schema, on a real PostgreSQL."""

from __future__ import annotations

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from orchestrator.contracts.errors import SchemaError
from orchestrator.store import schema
from orchestrator.store.models import Base
from orchestrator.store.postgres.connection import connect


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
    assert (named_tell, triggers) == (1, 4)
