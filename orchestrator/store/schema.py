"""The database's schema: bring it up to date, or say how it stands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from migrations import functions
from orchestrator.contracts.errors import ConflictError, SchemaError, UnavailableError
from orchestrator.store.postgres.connection import Database

LOCK_TIMEOUT = "5s"
"""A migration that cannot have its locks gives up, rather than queue the whole service behind it."""
STATEMENT_TIMEOUT = "15min"
MIGRATING = 0x4D6F6465
"""Advisory lock: one migration at a time."""


def upgrade(database_url: str) -> None:
    """Bring the schema to the newest version, all or nothing.

    Raises SchemaError when the database is newer than this code, UnavailableError when it does not answer, or when
    somebody holds a lock on a table for longer than `LOCK_TIMEOUT`.
    """
    with closing(Database(database_url)) as database, _without_waiting(), database.writing() as connection:
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


def clear(database_url: str) -> None:
    """Remove everything from a database that holds no campaign, for a backup to take its place.

    Raises ConflictError for one that holds any.
    """
    with closing(Database(database_url)) as database, _without_waiting(), database.writing() as connection:
        connection.execute(text("SELECT set_config('lock_timeout', :lock, true)"), {"lock": LOCK_TIMEOUT})
        if _holds_campaigns(connection):
            raise ConflictError("this database holds campaigns: restore into an empty one")
        functions.drop(connection.connection.cursor())
        for table in connection.execute(text("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")).scalars():
            connection.execute(text(f'DROP TABLE "{table}" CASCADE'))


def leave_ids_behind(database_url: str) -> None:
    """Let ids of settings and jobs go on far above those there are: what was given out since is never used again."""
    with closing(Database(database_url)) as database, database.writing() as connection:
        for table, stride in (("settings", 1_000_000), ("jobs", 10_000_000)):
            sequence = f"pg_get_serial_sequence('{table}', 'id')"
            connection.execute(text(f"SELECT setval({sequence}, nextval({sequence}) + {stride})"))


def current(database_url: str) -> tuple[str | None, str]:
    """The schema's version and the newest one this code knows: the last migration and the functions' digest.

    Raises UnavailableError when the database does not answer.
    """
    with closing(Database(database_url)) as database, database.reading() as connection:
        found = _version(connection)
    return found, _newest(_config())


def newest() -> str:
    """The version that this code was written for."""
    return _newest(_config())


def require_current(database_url: str) -> None:
    """Raise SchemaError unless the schema is exactly the one this code was written for, or UnavailableError."""
    found, newest = current(database_url)
    if found != newest:
        raise SchemaError(
            f"the database's schema is {found or 'empty'}, this version wants {newest}; "
            "run `modescope db upgrade` with the newest Modescope in use"
        )


@contextmanager
def _without_waiting() -> Iterator[None]:
    """Somebody's long transaction is told about in one line."""
    try:
        yield
    except (UnavailableError, psycopg.errors.LockNotAvailable) as failed:  # the driver's own: from a script
        cause = getattr(failed.__cause__, "orig", failed.__cause__)
        if not isinstance(cause, psycopg.errors.LockNotAvailable) and isinstance(failed, UnavailableError):
            raise
        raise UnavailableError(
            f"another transaction has held a table for more than {LOCK_TIMEOUT}, and nothing was changed: stop "
            "controllers, agents and whoever else uses the database, then try again"
        ) from failed


def _holds_campaigns(connection: Connection) -> bool:
    if connection.execute(text("SELECT to_regclass('campaigns')")).scalar_one() is None:
        return False
    return bool(connection.execute(text("SELECT EXISTS (SELECT FROM campaigns)")).scalar_one())


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
