"""Whoever cancels holds a campaign and its jobs, and waits for those in hand: whoever has one waits for no other."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql

from orchestrator.contracts.jobs import Ending
from tests.contract.agents import Agent
from tests.contract.stores import PostgresUnderTest
from tests.contract.studies import study, submitted


@pytest.fixture
def store(database_url: str) -> Iterator[PostgresUnderTest]:
    """Its calls fail when they wait for a lock."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        name = sql.Identifier(connection.info.dbname)
        connection.execute(sql.SQL("ALTER DATABASE {} SET lock_timeout = '1s'").format(name))
    store = PostgresUnderTest(database_url)
    yield store
    store.close()


def test_the_first_claim_does_not_wait_for_the_campaign(store: PostgresUnderTest, database_url: str) -> None:
    agent = Agent(store)
    campaign = submitted(store, study())
    with psycopg.connect(database_url) as canceller:
        canceller.execute("SELECT FROM campaigns WHERE id = %s FOR UPDATE", [campaign])
        assert agent.take().campaign_id == campaign


def test_who_hands_a_job_over_does_not_wait_for_the_next(store: PostgresUnderTest, database_url: str) -> None:
    agent = Agent(store)
    submitted(store, study(settings=2))
    job = agent.take()
    runs = [agent.run(job, pending) for pending in job.pending]
    with psycopg.connect(database_url) as canceller:
        canceller.execute("SELECT FROM jobs WHERE state = 'offered' FOR UPDATE")
        handed = store.jobs.hand_over(runs, job.job_id, job.token, Ending.COMPLETE, next_for=agent.session)
    assert handed.next is None
    assert len(handed.receipt.valid) == len(runs)
