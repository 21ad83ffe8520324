"""While agents find no free connection, no lease runs out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest
from psycopg import sql

from tests.contract.agents import Agent
from tests.contract.stores import PostgresUnderTest
from tests.contract.studies import jobs, study, submitted

SHORT_S = 5
"""Less than a gap of the controllers' own."""


@pytest.fixture
def store(database_url: str) -> Iterator[PostgresUnderTest]:
    """A ledger of its own, whose connections can be used up without harm to others."""
    with closing(PostgresUnderTest(database_url)) as under_test:
        yield under_test


def limit_connections(database_url: str, most: int) -> None:
    with psycopg.connect(database_url, autocommit=True) as operator:
        database = sql.Identifier(operator.info.dbname)
        operator.execute(sql.SQL("ALTER DATABASE {} CONNECTION LIMIT {}").format(database, most))


def test_the_time_without_a_free_connection_is_granted_to_every_lease(
    store: PostgresUnderTest, database_url: str
) -> None:
    campaign_id = submitted(store, study())
    Agent(store).take()
    limit_connections(database_url, 1)
    store.expire_leases()
    store.leave_alone(SHORT_S)
    store.control.reconcile()
    assert jobs(store, campaign_id) == {"leased": 1}
    limit_connections(database_url, -1)
    store.expire_leases()
    store.leave_alone(SHORT_S)
    store.control.reconcile()
    assert jobs(store, campaign_id) == {"queued": 1}
