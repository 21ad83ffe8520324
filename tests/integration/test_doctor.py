"""`modescope doctor` finds what is wrong, says what to do, and tells by its exit status."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from click.testing import CliRunner

from orchestrator.cli.service.doctor import doctor
from orchestrator.contracts.nodes import Hello
from orchestrator.queue import celery_app, redis_client
from orchestrator.store import schema
from tests.contract.agents import Agent
from tests.contract.stores import PostgresUnderTest
from tests.contract.studies import study, submitted


@pytest.fixture
def store(database_url: str) -> Iterator[PostgresUnderTest]:
    under_test = PostgresUnderTest(database_url)
    yield under_test
    under_test.close()


@pytest.fixture
def behind(database_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(database_url, autocommit=True) as connection:
        yield connection


class Examined:
    """Runs the command against these parts."""

    def __init__(self, home: Path, database_url: str, redis_url: str) -> None:
        self.home = home
        self._environment = {
            "MODESCOPE_HOME": str(home),
            "MODESCOPE_DATABASE_URL": database_url,
            "MODESCOPE_REDIS_URL": redis_url,
        }

    def __call__(self, *options: str, **environment: str) -> tuple[int, dict[str, str]]:
        """Exit status, and part -> what was seen, of what is wrong."""
        ended = CliRunner().invoke(doctor, ["--json", *options], env={**self._environment, **environment})
        findings = json.loads(ended.stdout)["findings"]
        return ended.exit_code, {one["part"]: one["seen"] for one in findings if one["do"] is not None}


@pytest.fixture
def examined(tmp_path: Path, database_url: str, redis_url: str) -> Examined:
    return Examined(tmp_path, database_url, redis_url)


def at_work(store: PostgresUnderTest) -> None:
    """A node with an agent of this version, and a controller."""
    store.nodes.hello(Hello(node="n1", session=uuid4(), boot_id="1", version=version("modescope"), engines={}))
    store.control.reconcile()


def test_all_is_well(store: PostgresUnderTest, examined: Examined) -> None:
    at_work(store)
    assert examined() == (0, {})


def test_a_database_that_does_not_answer_cannot_be_checked(examined: Examined, redis_url: str) -> None:
    status, wrong = examined(MODESCOPE_DATABASE_URL="postgresql://nobody@127.0.0.1:1/x")
    assert (status, list(wrong)) == (2, ["database"])


def test_a_database_that_is_not_migrated_cannot_be_checked(examined: Examined, empty_database_url: str) -> None:
    status, wrong = examined(MODESCOPE_DATABASE_URL=empty_database_url)
    assert status == 2
    assert wrong["database"] == f"schema empty, this version wants {schema.current(empty_database_url)[1]}"


def test_a_redis_that_does_not_answer(store: PostgresUnderTest, examined: Examined) -> None:
    at_work(store)
    status, wrong = examined(MODESCOPE_REDIS_URL="redis://127.0.0.1:1/0")
    assert (status, list(wrong)) == (1, ["redis"])


def test_no_controller_no_agent_and_a_lease_held_by_the_dead(store: PostgresUnderTest, examined: Examined) -> None:
    submitted(store, study())
    Agent(store, "gone").take()
    store.expire_leases()
    store.forget_node("gone")
    store.leave_alone(60)
    with psycopg.connect(store._database._url, autocommit=True) as behind:
        behind.execute("UPDATE jobs SET lease_until = lease_until - interval '1 min' WHERE state = 'leased'")
    status, wrong = examined()
    assert status == 1
    assert wrong["controller"].startswith("reconciled 60 s ago")
    assert wrong["agent gone"].startswith("offline, heard of 3600 s ago")
    assert wrong["leases"].startswith("1 ran out: job 1 on gone")


def test_an_agent_of_another_version_and_one_in_quarantine(
    store: PostgresUnderTest, behind: psycopg.Connection, examined: Examined
) -> None:
    at_work(store)
    Agent(store, "old")
    behind.execute("UPDATE sessions SET version = '0.0.1' WHERE node_id = (SELECT id FROM nodes WHERE name = 'old')")
    behind.execute("UPDATE nodes SET state = 'quarantined', reason = 'disk full' WHERE name = 'n1'")
    status, wrong = examined()
    assert status == 1
    assert wrong["agent old"].startswith("runs Modescope 0.0.1")
    assert wrong["agent n1"] == "quarantined: disk full"


def test_a_message_about_a_job_that_is_not_offered(
    store: PostgresUnderTest, examined: Examined, redis_url: str
) -> None:
    at_work(store)
    with celery_app(redis_url) as app:
        app.send_task("modescope.run_job", args=[4711], queue="node.n1")
    status, wrong = examined()
    assert (status, list(wrong)) == (1, ["queue"])
    assert "4711" in wrong["queue"]
    with redis_client(redis_url) as redis:
        redis.flushall()
        redis.hset("unacked", "tag", "a message")
    assert examined()[1]["queue"].startswith("1 messages taken and not acknowledged")


def test_spools_that_lie_around(store: PostgresUnderTest, examined: Examined) -> None:
    at_work(store)
    folder = examined.home / "nodes" / "n1"
    folder.mkdir(parents=True)
    (folder / "spool-1234-5.jsonl").write_text("{}\n")
    assert "another ledger" in examined()[1]["spool n1"]
    (folder / "refused.jsonl").write_text("{}\n{}\n")
    assert "2 runs were refused" in examined()[1]["spool n1"]


@pytest.mark.parametrize(
    "wrong",
    [
        "UPDATE job_counts SET jobs = jobs + 1 WHERE state = 'done'",
        "DELETE FROM job_counts WHERE state = 'done'",
        "UPDATE shares SET valid = valid - 1",
        "DELETE FROM shares",
        "UPDATE shares SET superseded = 7",
        "UPDATE analysis_counts SET analyses = 0",
        "UPDATE settings SET valid_runs = 99 WHERE ordinal = 0",
    ],
)
def test_counters_are_recounted_and_repaired_when_asked(
    store: PostgresUnderTest, behind: psycopg.Connection, examined: Examined, wrong: str
) -> None:
    campaign = submitted(store, study(settings=2, replicates=3))
    at_work(store)
    Agent(store, "n1").work_off()
    before = store.campaigns.progress(campaign)
    behind.execute("UPDATE sessions SET version = %s", [version("modescope")])
    assert examined() == (0, {})
    assert behind.execute(wrong.encode()).rowcount > 0
    status, found = examined()
    assert (status, list(found)) == (1, ["counters"])
    assert examined("--repair") == (0, {})
    assert examined() == (0, {})
    assert store.campaigns.progress(campaign).valid_runs == before.valid_runs
    assert store.campaigns.progress(campaign).jobs == before.jobs
