"""How a process connects, and how the database's complaints become errors of ours."""

from __future__ import annotations

import select
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial

import psycopg
from sqlalchemy import Connection, Engine, NullPool, QueuePool, create_engine, event, make_url
from sqlalchemy.exc import DBAPIError, DisconnectionError, IntegrityError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from orchestrator.contracts.errors import ConflictError, RightsError, UnavailableError

CONNECT_TIMEOUT_S = 5


def connect(database_url: str, *, keep: int = 0, longest: str | None = None) -> Engine:
    """An engine for a libpq address; each statement is a transaction by itself unless its user opens one.

    `keep`: how many connections stay open between uses; 0 closes each at once.
    `longest`: how long a statement, and a transaction's silence, may last, as PostgreSQL writes it (`10s`).
    """
    url = make_url(database_url).set(drivername="postgresql+psycopg")
    arguments = {"connect_timeout": CONNECT_TIMEOUT_S}
    if keep == 0:
        engine = create_engine(url, poolclass=NullPool, connect_args=arguments, isolation_level="AUTOCOMMIT")
    else:
        engine = create_engine(
            url,
            pool_size=keep,
            max_overflow=keep,
            pool_timeout=CONNECT_TIMEOUT_S,
            connect_args=arguments,
            isolation_level="AUTOCOMMIT",
        )
        event.listen(engine, "checkout", _refuse_ended)
    if longest is not None:
        event.listen(engine, "connect", partial(_limit, longest))
    return engine


def _limit(longest: str, connection: psycopg.Connection, _record: object) -> None:
    for limit in ("statement_timeout", "idle_in_transaction_session_timeout"):
        connection.execute("SELECT set_config(%s, %s, false)", (limit, longest))
    connection.commit()  # the driver may have opened a transaction, with which the limits would go


def _refuse_ended(connection: psycopg.Connection, _record: object, _pooled: object) -> None:
    """A kept connection with something to read was ended by the server; SQLAlchemy then opens another.

    Looking at the socket costs a microsecond, where a ping would double the round trips of every call.
    """
    poller = select.poll()
    poller.register(connection.fileno(), select.POLLIN)
    if poller.poll(0):
        raise DisconnectionError


class Database:
    """Transactions on one database.

    Raises UnavailableError when it does not answer, ConflictError when a named constraint was broken.
    """

    def __init__(self, database_url: str, *, keep: int = 0, longest: str | None = None) -> None:
        """See `connect`."""
        self._url = database_url
        self._keep = keep
        self._engine = connect(database_url, keep=keep, longest=longest)
        self._transactions = self._engine.execution_options(isolation_level="READ COMMITTED")

    def limited(self, longest: str) -> Database:
        """The same, by connections of its own, on which nothing lasts longer."""
        return Database(self._url, keep=min(self._keep, 1), longest=longest)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction, committed at the end."""
        with _translated(), self._transactions.begin() as connection:
            yield connection

    @contextmanager
    def calling(self) -> Iterator[Connection]:
        """For single statements, each a transaction by itself: one round trip where `writing` takes three."""
        with _translated(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """For questions: each sees what is committed when it is asked, as in a READ COMMITTED transaction."""
        with _translated(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def streaming(self) -> Iterator[Connection]:
        """One transaction, given up at the end; rows are fetched as they are used, in constant memory."""
        with _translated(), self._transactions.connect() as connection:
            yield connection.execution_options(stream_results=True, yield_per=2000)

    def listening(self) -> psycopg.Connection:
        """A connection of its own that hears `NOTIFY modescope`."""
        with _translated():
            url = make_url(self._url).set(drivername="postgresql").render_as_string(hide_password=False)
            connection = psycopg.connect(url, autocommit=True, connect_timeout=CONNECT_TIMEOUT_S)
            connection.execute("LISTEN modescope")
            return connection

    def translating(self) -> AbstractContextManager[None]:
        """For what is done on a connection from `listening`."""
        return _translated()

    def hang_up(self) -> None:
        """Close what is kept open; the next use connects again.

        Nothing is closed while another thread is in a call: its connection would go back to a pool that is no more, and
        stay open. Whoever ends last closes them all.
        """
        pool = self._engine.pool
        if isinstance(pool, QueuePool) and pool.checkedin() and not pool.checkedout():
            self._engine.dispose()

    def close(self) -> None:
        """Close what is kept open."""
        self._engine.dispose()


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except IntegrityError as broken:
        raise ConflictError(_first_line(broken)) from broken
    except PoolTimeoutError as busy:
        raise UnavailableError("every connection to the database is in use; try again in a moment") from busy
    except OperationalError as gone:
        raise UnavailableError(f"the database does not answer: {_first_line(gone)}") from gone
    except DBAPIError as failed:
        if isinstance(failed.orig, psycopg.errors.InsufficientPrivilege):
            raise RightsError(f"the database refuses: {_first_line(failed)}") from failed
        if failed.connection_invalidated:
            raise UnavailableError(f"the database went away: {_first_line(failed)}") from failed
        raise
    except psycopg.IntegrityError as broken:  # from COPY, which does not pass through SQLAlchemy
        raise ConflictError(str(broken).splitlines()[0]) from broken
    except psycopg.OperationalError as gone:
        raise UnavailableError(f"the database does not answer: {str(gone).splitlines()[0]}") from gone


def _first_line(error: DBAPIError) -> str:
    return str(error.orig).strip().splitlines()[0]
