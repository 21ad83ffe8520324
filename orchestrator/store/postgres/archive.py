"""A campaign's rows out of the ledger and back: an operator's act on one database, not a port of the service.

`orchestrator.archive` tells the story; here is what it needs of PostgreSQL.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import psycopg
from sqlalchemy import Connection, text

from orchestrator.contracts.archives import Kind, Table
from orchestrator.contracts.errors import ConflictError, NotFoundError
from orchestrator.store.postgres import archived_tables
from orchestrator.store.postgres.archived_tables import Rows
from orchestrator.store.postgres.connection import Database

Batch = Sequence[tuple[Any, ...]]
READ_AT_ONCE = 2000
"""Rows in memory at a time."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CAMPAIGN = text("""
    SELECT to_jsonb(c) AS row, c.name, c.state, c.archive,
           EXISTS (SELECT FROM settings WHERE campaign_id = c.id) AS has_rows,
           (SELECT count(*) FROM analyses AS a WHERE a.campaign_id = c.id AND a.current
            AND (a.state <> 'done' OR NOT a.final)) AS unfinished
    FROM campaigns AS c WHERE c.id = :campaign
""")
# A run that comes home meanwhile waits for its setting; a child campaign may still be submitted.
_HOLD = (
    text("SELECT FROM campaigns WHERE id = :campaign FOR NO KEY UPDATE"),
    text("SELECT FROM settings WHERE campaign_id = :campaign FOR UPDATE"),
    text("SELECT FROM analyses WHERE campaign_id = :campaign FOR UPDATE"),
)
_MARK = text(
    "UPDATE campaigns SET archived_at = clock_timestamp(), archive = CAST(:archive AS jsonb) WHERE id = :campaign"
)
_UNMARK = text("UPDATE campaigns SET archived_at = NULL, archive = NULL WHERE id = :campaign")
_FREE_RUNS = text("DELETE FROM runs WHERE id = ANY (CAST(:ids AS uuid[]))")


class Ledger:
    """One database, for archiving and restoring."""

    def __init__(self, database_url: str) -> None:
        self._database = Database(database_url)

    def campaign(self, campaign_id: int) -> Any:
        """`row` (all columns, JSON-able), name, state, archive, has_rows, unfinished. Raises NotFoundError."""
        with self._database.reading() as connection:
            return _campaign(connection, campaign_id)

    @contextmanager
    def snapshot(self, campaign_id: int) -> Iterator[Callable[[Rows], Iterator[Batch]]]:
        """Reads a campaign's rows, all as of one moment; nobody waits for it."""
        with self._database.writing() as connection:  # it only reads, but in one transaction
            connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
            yield lambda rows: _read(connection, rows, campaign_id)

    @contextmanager
    def held(self, campaign_id: int, archive: dict[str, str]) -> Iterator[Callable[[Rows], Iterator[Batch]]]:
        """Reads the rows while nobody can change them, and at the end marks the campaign as archived.

        Its jobs go in the same transaction: a run that comes home from now on is refused, and stays on its node.
        An error inside leaves everything as it was.
        """
        with self._database.writing() as connection:
            for statement in _HOLD:
                connection.execute(statement, {"campaign": campaign_id})
            yield lambda rows: _read(connection, rows, campaign_id)
            with _counters_as_they_are(connection, campaign_id):
                for table in ("job_failures", "jobs"):
                    _delete(connection, table, campaign_id)
            connection.execute(_MARK, {"campaign": campaign_id, "archive": json.dumps(archive)})

    def free_runs(self, campaign_id: int, ids: Sequence[str]) -> None:
        """Remove these runs, in a transaction of their own."""
        with self._database.writing() as connection, _counters_as_they_are(connection, campaign_id):
            connection.execute(_FREE_RUNS, {"ids": list(ids)})

    def free_rest(self, campaign_id: int, keep_late: Callable[[Table, Iterator[Batch]], None]) -> None:
        """Remove what is left. `keep_late` is given runs that came in while the campaign was being marked, if any."""
        runs = next(rows for rows in archived_tables.moved() if rows.table.name == "runs")
        with self._database.writing() as connection, _counters_as_they_are(connection, campaign_id):
            connection.execute(_HOLD[1], {"campaign": campaign_id})
            keep_late(runs.table, _read(connection, runs, campaign_id))
            for rows in reversed(archived_tables.moved()):
                _delete(connection, rows.table.name, campaign_id)

    @contextmanager
    def filling(self, campaign_id: int) -> Iterator[Filling]:
        """Put rows back, all or nothing; at the end the campaign is not archived any more."""
        with self._database.writing() as connection:
            connection.execute(_HOLD[0], {"campaign": campaign_id})
            with _counters_as_they_are(connection, campaign_id):
                yield Filling(connection, campaign_id)
            connection.execute(_UNMARK, {"campaign": campaign_id})


class Filling:
    """One restoring transaction."""

    def __init__(self, connection: Connection, campaign_id: int) -> None:
        self._connection = connection
        self._campaign_id = campaign_id

    def load(self, table: Table, batches: Iterable[Batch]) -> None:
        """Write rows as `Kind` describes them."""
        columns = ", ".join(f'"{column.name}"' for column in table.columns)
        times = [place for place, column in enumerate(table.columns) if column.kind is Kind.TIME]
        driver = cast(psycopg.Connection[Any], self._connection.connection.driver_connection)
        with driver.cursor() as cursor, cursor.copy(f"COPY {table.name} ({columns}) FROM STDIN".encode()) as copy:
            for row in (row for batch in batches for row in batch):
                copy.write_row(_with_times(row, times))

    def rows(self, rows: Rows) -> Iterator[Batch]:
        """What is there now."""
        return _read(self._connection, rows, self._campaign_id)


def _campaign(connection: Connection, campaign_id: int) -> Any:
    row = connection.execute(_CAMPAIGN, {"campaign": campaign_id}).one_or_none()
    if row is None:
        raise NotFoundError(f"there is no campaign {campaign_id}; `modescope campaign list` shows those there are")
    return row


def _read(connection: Connection, rows: Rows, campaign_id: int) -> Iterator[Batch]:
    query = text(rows.query).execution_options(stream_results=True, max_row_buffer=READ_AT_ONCE)
    with connection.execute(query, {"campaign": campaign_id}) as result:
        for batch in result.partitions(READ_AT_ONCE):
            yield [tuple(row) for row in batch]


def _delete(connection: Connection, table: str, campaign_id: int) -> None:
    where = next(rows.where for rows in archived_tables.moved() if rows.table.name == table)
    connection.execute(text(f"DELETE FROM {table} WHERE {where}"), {"campaign": campaign_id})  # noqa: S608 - our names


@contextmanager
def _counters_as_they_are(connection: Connection, campaign_id: int) -> Iterator[None]:
    """Triggers count what moves; that rows go to an archive and come back is no news about the campaign."""
    named = {"campaign": campaign_id}
    for table in archived_tables.counters():
        keep = f"CREATE TEMP TABLE kept_{table} ON COMMIT DROP AS SELECT * FROM {table} WHERE campaign_id = :campaign"  # noqa: S608
        connection.execute(text(keep), named)
    yield
    for table in archived_tables.counters():
        connection.execute(text(f"DELETE FROM {table} WHERE campaign_id = :campaign"), named)  # noqa: S608
        connection.execute(text(f"INSERT INTO {table} SELECT * FROM kept_{table}"))  # noqa: S608


def _with_times(row: tuple[Any, ...], places: Sequence[int]) -> tuple[Any, ...]:
    values = list(row)
    for place in places:
        if values[place] is not None:
            values[place] = _EPOCH + timedelta(microseconds=values[place])
    return tuple(values)


def refuse_archived(campaign_id: int, archive: dict[str, Any] | None) -> None:
    """Raise ConflictError for a campaign whose rows are elsewhere."""
    if archive is not None:
        raise ConflictError(
            f"campaign {campaign_id} is archived in {archive['folder']}; "
            f"`modescope campaign restore {archive['folder']}` brings its rows back"
        )
