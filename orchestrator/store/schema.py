"""The database's schema: bring it up to date, or say how it stands."""

from __future__ import annotations

from contextlib import closing

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from migrations import functions
from orchestrator.contracts.errors import SchemaError
from orchestrator.store.postgres.connection import Database, connect

LOCK_TIMEOUT = "5s"
"""A migration that cannot have its locks gives up, rather than queue the whole service behind it."""
STATEMENT_TIMEOUT = "15min"
MIGRATING = 0x4D6F6465
"""Advisory lock: one migration at a time."""


def upgrade(database_url: str) -> None:
    """Bring the schema to the newest version. Raises SchemaError when the database is newer than this code."""
    with connect(database_url).begin() as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATING})
        connection.execute(
            text("SELECT set_config('lock_timeout', :lock, true), set_config('statement_timeout', :s, true)"),
            {"lock": LOCK_TIMEOUT, "s": STATEMENT_TIMEOUT},
        )
        config = _config()
        _refuse_newer(MigrationContext.configure(connection).get_current_revision(), config)
        if _version(connection) == _newest(config):
            return
        config.attributes["connection"] = connection
        cursor = connection.connection.cursor()
        functions.drop(cursor)
        command.upgrade(config, "head")
        functions.create(cursor)


def current(database_url: str) -> tuple[str | None, str]:
    """The schema's version and the newest one this code knows: the last migration and the functions' digest.

    Raises UnavailableError when the database does not answer.
    """
    with closing(Database(database_url)) as database, database.reading() as connection:
        found = _version(connection)
    return found, _newest(_config())


def require_current(database_url: str) -> None:
    """Raise SchemaError unless the schema is exactly the one this code was written for, or UnavailableError."""
    found, newest = current(database_url)
    if found != newest:
        raise SchemaError(
            f"the database's schema is {found or 'empty'}, this version wants {newest}; "
            "run `modescope db upgrade` with the newest Modescope in use"
        )


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", "migrations:")
    config.set_main_option("path_separator", "os")
    return config


def _newest(config: Config) -> str:
    return _named(ScriptDirectory.from_config(config).get_current_head() or "", functions.digest())


def _version(connection: Connection) -> str | None:
    revision = MigrationContext.configure(connection).get_current_revision()
    if revision is None:
        return None
    kept = connection.execute(text("SELECT to_jsonb(l) ->> 'functions_digest' FROM ledger AS l")).scalar_one()
    return _named(revision, kept or "")  # before migration 0002 there was no such column


def _named(revision: str, digest: str) -> str:
    return f"{revision}.{digest[:8]}"


def _refuse_newer(found: str | None, config: Config) -> None:
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found is not None and found not in known:
        raise SchemaError(
            f"the database's schema is {found}, newer than this version of Modescope; install the newer one"
        )
