"""Every test of the contract runs against both stores."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract.stores import MemoryUnderTest, PostgresUnderTest, StoreUnderTest


@pytest.fixture(params=["memory", "postgres"])
def store(request: pytest.FixtureRequest) -> Iterator[StoreUnderTest]:
    """An empty store."""
    if request.param == "memory":
        under_test: StoreUnderTest = MemoryUnderTest()
    else:
        under_test = PostgresUnderTest(request.getfixturevalue("database_url"))
    yield under_test
    under_test.close()
