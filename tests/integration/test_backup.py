"""The documented backup: taken in the middle of a campaign, restored elsewhere, and the campaign goes on to its end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner

from orchestrator.cli.service.db import db
from orchestrator.contracts.errors import ConflictError, UserError
from orchestrator.store.postgres import PostgresStore
from tests.contract.agents import Agent
from tests.contract.stores import PostgresUnderTest
from tests.contract.studies import study, submitted
from workers.agent import Agent as NodeAgent
from workers.spool import Spool


@pytest.fixture
def store(database_url: str) -> Iterator[PostgresUnderTest]:
    under_test = PostgresUnderTest(database_url)
    yield under_test
    under_test.close()


def call(url: str, *arguments: str) -> str:
    """What the command says. Its errors are raised."""
    ended = CliRunner().invoke(db, list(arguments), env={"MODESCOPE_DATABASE_URL": url}, catch_exceptions=False)
    assert ended.exit_code == 0, ended.output
    return ended.output


def count(url: str, what: str) -> Any:
    with psycopg.connect(url) as connection:
        row = connection.execute(what.encode()).fetchone()
    assert row is not None
    return row[0]


def test_a_campaign_restored_from_a_dump_goes_on_to_its_end_and_late_runs_come_home_once(
    store: PostgresUnderTest, database_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    campaign = submitted(store, study(settings=2, replicates=4, per_job=2))
    before = Agent(store, "n1")
    before.work()
    before.measure(before.take(), only=1)
    call(database_url, "dump", "--out", str(tmp_path / "ledger.dump"))
    # After the dump: the agent dies and comes back as another session, and all it measures stays in its spool.
    after = Agent(store, "n1")
    store.jobs.release_node("n1", after.session)
    job = after.take()
    late = [after.run(job, pending) for pending in job.pending]
    spool = Spool(tmp_path / "nodes" / "n1", store.ledger)
    for run in late:
        spool.append(run)
    spool.close()
    assert "Restored" in call(empty_database_url, "restore", str(tmp_path / "ledger.dump"))

    restored = PostgresUnderTest(empty_database_url)
    assert restored.ledger == store.ledger
    node = NodeAgent(PostgresStore(empty_database_url), node="n1", home=tmp_path)
    node.start()
    node.close()
    with psycopg.connect(empty_database_url) as connection:
        home = {row[0] for row in connection.execute("SELECT id FROM runs WHERE validity = 'valid'")}
    assert {run.id for run in late} <= home
    assert not (tmp_path / "nodes" / "n1" / "refused.jsonl").exists()
    assert len(restored.runs.record(late).known) == len(late)
    Agent(restored, "n2").work_off()
    assert restored.campaigns.get(campaign).state == "complete"
    twice = "SELECT count(*) - count(DISTINCT (setting_id, replicate)) FROM runs WHERE validity = 'valid'"
    assert count(empty_database_url, twice) == 0
    assert count(empty_database_url, "SELECT count(*) FROM runs WHERE validity = 'valid'") == 8
    restored.close()


def test_a_run_of_a_campaign_that_the_dump_does_not_hold_never_fits_a_later_one(
    store: PostgresUnderTest, database_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    submitted(store, study(key="old"))
    call(database_url, "dump", "--out", str(tmp_path / "ledger.dump"))
    submitted(store, study(key="lost"))
    agent = Agent(store)
    agent.work()
    lost = agent.run(agent.take())
    call(empty_database_url, "restore", str(tmp_path / "ledger.dump"))
    restored = PostgresUnderTest(empty_database_url)
    submitted(restored, study(key="new"))
    agent.store = restored
    agent.hello()
    with pytest.raises(ConflictError, match="no setting"):
        agent.record(lost)
    restored.close()


def test_a_database_with_campaigns_is_not_written_over(
    store: PostgresUnderTest, database_url: str, tmp_path: Path
) -> None:
    submitted(store, study())
    call(database_url, "dump", "--out", str(tmp_path / "ledger.dump"))
    with pytest.raises(ConflictError, match="holds campaigns"):
        call(database_url, "restore", str(tmp_path / "ledger.dump"))


def test_a_file_that_is_no_dump_changes_nothing(database_url: str, tmp_path: Path) -> None:
    (tmp_path / "ledger.dump").write_text("not a dump")
    with pytest.raises(UserError, match="archive"):
        call(database_url, "restore", str(tmp_path / "ledger.dump"))
    assert count(database_url, "SELECT count(*) FROM ledger") == 1


def test_a_ledger_just_made_gives_way_to_the_dump(
    store: PostgresUnderTest, database_url: str, postgres_server: Any, tmp_path: Path
) -> None:
    """As `modescope up` makes it before anything can be restored into it."""
    from orchestrator.embedded import postgres
    from orchestrator.store import schema

    submitted(store, study())
    call(database_url, "dump", "--out", str(tmp_path / "ledger.dump"))
    postgres.create_database(postgres_server, "fresh")
    schema.upgrade(postgres_server.url("fresh"))
    call(postgres_server.url("fresh"), "restore", str(tmp_path / "ledger.dump"))
    assert count(postgres_server.url("fresh"), "SELECT id FROM ledger") == store.ledger
    schema.require_current(postgres_server.url("fresh"))
