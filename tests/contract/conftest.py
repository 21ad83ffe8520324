"""Every test of the contract runs against both stores."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from orchestrator.embedded import postgres
from orchestrator.store import schema
from tests.contract.stores import MemoryUnderTest, PostgresUnderTest, StoreUnderTest


@pytest.fixture(scope="session")
def postgres_store(postgres_server: postgres.Cluster) -> Iterator[PostgresUnderTest]:
    """One database for the whole suite: emptying it takes a tenth of the time of making another."""
    postgres.create_database(postgres_server, "contract")
    schema.upgrade(postgres_server.url("contract"))
    under_test = PostgresUnderTest(postgres_server.url("contract"))
    yield under_test
    under_test.close()


@pytest.fixture(params=["memory", "postgres"])
def store(request: pytest.FixtureRequest) -> StoreUnderTest:
    """An empty store."""
    if request.param == "memory":
        return MemoryUnderTest()
    under_test: PostgresUnderTest = request.getfixturevalue("postgres_store")
    under_test.wipe()
    return under_test
