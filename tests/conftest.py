"""Real PostgreSQL and Redis for tests, started once a session from the parts that Modescope itself embeds."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from redis import Redis

from orchestrator.embedded import postgres, postgres_programs, redis
from orchestrator.embedded.accounts import service_account
from orchestrator.embedded.children import Child, Part, end

TEMPLATE = "migrated_template"
_database_numbers = count()


def pytest_configure() -> None:
    # `timeout 60 pytest` ends with SIGTERM: fixtures must stop their servers then too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)


@pytest.fixture(scope="session")
def require_program() -> Callable[[str], Path]:
    """`require_program("iozone")`: its path; where it is missing, a failure in CI and a skip elsewhere."""

    def require(name: str) -> Path:
        found = shutil.which(name)
        if found:
            return Path(found)
        message = f"{name} is not on PATH"
        if os.environ.get("CI") in ("1", "true"):
            pytest.fail(message)
        pytest.skip(message)

    return require


@pytest.fixture(scope="session")
def servers_folder() -> Iterator[Path]:
    """A short path that another user may pass through, so that root's PostgreSQL can have its folder there."""
    folder = Path(tempfile.mkdtemp(prefix="modescope-test-", dir="/var/tmp"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def postgres_server(servers_folder: Path) -> Iterator[postgres.Cluster]:
    """A running PostgreSQL without a database of ours."""
    account = service_account()
    cluster = postgres.prepare(
        data=servers_folder / "postgres",
        sockets=servers_folder / "sockets",
        programs=postgres_programs.usable(account, copy_to=servers_folder / "programs"),
        account=account,
    )
    # A test does not outlive a power cut.
    with _running(
        postgres.part(cluster, servers_folder / "postgres.log", fsync="off"), lambda: postgres.ready(cluster)
    ):
        yield cluster


@pytest.fixture
def empty_database_url(postgres_server: postgres.Cluster) -> Iterator[str]:
    """A database without a table, for this test alone."""
    with _database(postgres_server) as url:
        yield url


@pytest.fixture(scope="session")
def migrated_template(postgres_server: postgres.Cluster) -> str:
    """The name of a database with today's schema; copying it is quicker than migrating again."""
    from orchestrator.store import schema

    postgres.create_database(postgres_server, TEMPLATE)
    schema.upgrade(postgres_server.url(TEMPLATE))
    return TEMPLATE


@pytest.fixture
def database_url(postgres_server: postgres.Cluster, migrated_template: str) -> Iterator[str]:
    """A database with today's schema and no rows, for this test alone."""
    with _database(postgres_server, template=migrated_template) as url:
        yield url


@pytest.fixture(scope="session")
def redis_server(servers_folder: Path) -> Iterator[str]:
    """The address of a running Redis, as MODESCOPE_REDIS_URL has it."""
    folder = servers_folder / "redis"
    folder.mkdir(mode=0o700)
    with _running(redis.part(folder, servers_folder / "redis.log"), lambda: redis.ready(folder)):
        yield redis.broker_url(folder)


@pytest.fixture
def redis_url(redis_server: str) -> str:
    """The address of an empty Redis, as MODESCOPE_REDIS_URL has it."""
    with Redis.from_url(redis_server.replace("redis+socket://", "unix://")) as client:
        client.flushall()
    return redis_server


@contextmanager
def _running(part: Part, ready: Callable[[], bool]) -> Iterator[None]:
    child = Child(part)
    try:
        child.wait_until(ready)
        yield
    finally:
        end([child])


@contextmanager
def _database(cluster: postgres.Cluster, template: str = "template0") -> Iterator[str]:
    name = f"test_{next(_database_numbers)}"
    create = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy")
    drop = sql.SQL("DROP DATABASE {} WITH (FORCE)")
    with psycopg.connect(cluster.url("postgres"), autocommit=True) as connection:
        connection.execute(create.format(sql.Identifier(name), sql.Identifier(template)))
    yield cluster.url(name)
    with psycopg.connect(cluster.url("postgres"), autocommit=True) as connection:
        connection.execute(drop.format(sql.Identifier(name)))
