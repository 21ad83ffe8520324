"""The servers that conftest starts are the embedded ones; these tests say what they promise."""

from __future__ import annotations

import psycopg
import pytest
from redis import Redis

from orchestrator.embedded import postgres


def answer(url: str, question: str) -> object:
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(question).fetchone()
    assert row is not None
    return row[0]


def test_a_database_is_empty(empty_database_url: str) -> None:
    tables = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'"
    assert answer(empty_database_url, tables) == 0


@pytest.mark.parametrize("time", ["first", "second"])
def test_every_test_has_a_database_of_its_own(empty_database_url: str, time: str) -> None:
    with psycopg.connect(empty_database_url) as connection:
        connection.execute("CREATE TABLE seen ()")


def test_postgres_listens_on_its_socket_only(postgres_server: postgres.Cluster) -> None:
    assert answer(postgres_server.url("postgres"), "SHOW listen_addresses") == ""
    assert postgres_server.sockets.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("time", ["first", "second"])
def test_redis_is_empty_at_the_start_of_a_test(redis_url: str, time: str) -> None:
    with Redis.from_url(redis_url.replace("redis+socket://", "unix://")) as client:
        assert client.dbsize() == 0
        client.set("key", time)
