"""Who may do what below the API: each part does its whole job under its own user, and nothing that is another's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from click.testing import CliRunner
from psycopg import errors
from redis.exceptions import NoPermissionError, RedisError

from orchestrator import queue
from orchestrator.cli.service.doctor import doctor
from orchestrator.client import Client
from orchestrator.contracts import tasks
from orchestrator.contracts.errors import RightsError, UnavailableError
from orchestrator.contracts.jobs import Assignment, Ending
from orchestrator.contracts.nodes import Hello
from orchestrator.embedded.children import Role, end
from orchestrator.store import schema
from orchestrator.store.postgres import PostgresStore
from tests.contract.agents import Agent
from tests.contract.stores import PostgresUnderTest
from tests.contract.studies import study, submitted
from tests.integration import rights_servers
from tests.integration.rights_servers import Site, free_port
from tests.waiting import wait_for

TOKEN = "of-the-test"  # noqa: S105 - opens a service that ends with the test
STUDY = """
name: under rights of their own
design:
  blocks:
    - levels: {threads: [1, 2], file_size_kb: [64], record_size_kb: [4]}
      modes: [initial_writers, readers]
replicates: 30
replicates_per_job: 5
engine: {name: replay, mixture: "normal:0.5,1000,10;0.5,2000,10"}
"""


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with rights_servers.site() as running:
        yield running


@pytest.fixture
def owner(site: Site) -> Iterator[PostgresStore]:
    with closing(PostgresStore(site.owner_url, keep=1)) as store:
        yield store


@contextmanager
def refused(*kinds: type[Exception]) -> Iterator[None]:
    with pytest.raises(kinds or (errors.InsufficientPrivilege,)):
        yield


@pytest.mark.parametrize("part", ["api", "analysis", "node-m01"])
def test_nobody_comes_in_with_a_wrong_password(site: Site, part: str) -> None:
    with refused(psycopg.OperationalError):
        psycopg.connect(site.database_url(part).replace("@", "x@"))
    with refused(RedisError), queue.redis_client(site.redis_url(part).replace("@", "x@")) as client:
        client.ping()


def test_a_campaign_runs_from_start_to_verdicts_under_these_users(site: Site) -> None:
    port = free_port()
    parts = [
        site.child(Role.API, "api", "api", "--port", str(port), MODESCOPE_TOKEN=TOKEN),
        site.child(Role.CONTROLLER, "api", "controller"),
        site.child(Role.AGENT, "node-m01", "agent", "--node", "m01"),
        site.child(Role.AGENT, "node-m02", "agent", "--node", "m02"),
        site.child(Role.ANALYSIS, "analysis", "analysis-worker"),
    ]
    try:
        with Client(f"http://127.0.0.1:{port}", TOKEN) as client:
            wait_for("both nodes", lambda: online(client), lambda names: names == ["m01", "m02"])
            campaign = client.submit(STUDY)[0].id
            wait_for("final verdicts", lambda: client.progress(campaign), lambda seen: seen.verdicts_final)
            assert client.campaign(campaign).state == "complete"
            assert all(one.final for one in client.configurations(campaign))
            cancelled = client.submit(STUDY.replace("under", "not under"))[0].id
            client.cancel(cancelled, now=True)
            assert all(child.running() for child in parts)
    finally:
        end(parts)
    assert [log.name for log in site.folder.glob("*.log") if "NOPERM" in log.read_text()] == []


def online(client: Client) -> list[str]:
    try:
        return [node.name for node in client.nodes() if node.online]
    except UnavailableError:
        return []


AGENT_MUST_NOT = [
    "SELECT digest FROM tokens",
    "SELECT * FROM sign_ins",
    "SELECT * FROM audit",
    "SELECT * FROM runs",
    "SELECT * FROM measurements",
    "SELECT token FROM jobs",
    "SELECT * FROM node_status",
    "UPDATE runs SET validity = 'invalid'",
    "UPDATE jobs SET state = 'done'",
    "DELETE FROM runs",
    "INSERT INTO events (kind, message) VALUES ('a', 'b')",
    "UPDATE ledger SET id = gen_random_uuid()",
    "TRUNCATE runs",
    "DROP TABLE runs",
    "CREATE TABLE mine (id integer)",
    "CREATE FUNCTION mine() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
    "CREATE TEMP TABLE nodes (id integer)",
    "COPY runs TO STDOUT",
    "COPY tokens TO PROGRAM 'cat'",
    "COPY ledger TO '/tmp/ledger'",
    "ALTER FUNCTION hello SECURITY INVOKER",
    "SELECT dispatch(2)",
    "SELECT fail_job(1, 'lost', 'because')",
    "SELECT set_aside(j, 'because') FROM jobs AS j",
    "SELECT open_analyses(ARRAY[1])",
    "SELECT grant_rights()",
    "SET ROLE modescope",
    "SET ROLE modescope_api",
    "SET SESSION AUTHORIZATION modescope",
    "CREATE ROLE mine LOGIN",
]
ANALYSIS_MUST_NOT = [
    "SELECT digest FROM tokens",
    "SELECT * FROM audit",
    "SELECT token FROM jobs",
    "UPDATE runs SET validity = 'invalid'",
    "UPDATE analyses SET digest = 'of another sample'",
    "DELETE FROM analyses",
    "INSERT INTO analyses (campaign_id, setting_id, mode, digest) VALUES (1, 1, 'readers', 'd')",
    "UPDATE analysis_counts SET analyses = 0",
    "SELECT claim(1, gen_random_uuid())",
    "SELECT release_node('m01', gen_random_uuid())",
    "DROP TABLE analyses",
    "COPY analyses FROM PROGRAM 'cat'",
]
API_MUST_NOT = [
    "DROP TABLE runs",
    "ALTER TABLE runs ADD COLUMN mine integer",
    "TRUNCATE runs",
    "CREATE TABLE mine (id integer)",
    "UPDATE audit SET who = 'nobody'",
    "DELETE FROM audit",
    "UPDATE alembic_version SET version_num = '0001'",
    "DELETE FROM ledger",
    "DROP FUNCTION hello",
    "COPY runs TO PROGRAM 'cat'",
    "SELECT release_node('m01', gen_random_uuid())",
    "CREATE ROLE mine LOGIN",
]


@pytest.mark.parametrize(
    ("part", "statement"),
    [(part, one) for part, statements in [("node-m01", AGENT_MUST_NOT), ("analysis", ANALYSIS_MUST_NOT),
     ("api", API_MUST_NOT)] for one in statements],
)  # fmt: skip
def test_a_role_is_refused_what_it_must_not(site: Site, part: str, statement: str) -> None:
    with refused(), psycopg.connect(site.database_url(part)) as connection:
        connection.execute(statement)


def test_every_role_reads_whether_the_schema_is_its_own(site: Site) -> None:
    for part in ("api", "analysis", "node-m01"):
        schema.require_current(site.database_url(part))


@pytest.fixture
def held(site: Site, owner: PostgresStore) -> Iterator[tuple[Agent, Assignment]]:
    """A job that m01's agent has claimed."""
    agent = Agent(connected(site, "m01"), "m01")
    campaign = submitted(owner, study(replicates=2))
    (offer,) = owner.control.dispatch(outstanding=1)
    assignment = agent.claim(offer.job_id)
    assert assignment is not None
    yield agent, assignment
    agent.store.jobs.finish(assignment.job_id, assignment.token, Ending.RELEASE)
    owner.campaigns.cancel(campaign)
    agent.store.nodes.goodbye(agent.session)
    agent.store.close()


def connected(site: Site, node: str) -> PostgresUnderTest:
    return PostgresUnderTest(site.database_url(f"node-{node}"))


def test_an_agent_speaks_for_no_other_node(site: Site, held: tuple[Agent, Assignment]) -> None:
    agent, assignment = held
    other = connected(site, "m02")
    run = agent.run(assignment)
    attempts = {
        "hello": lambda: Agent(other, "m01"),
        "hello in its session": lambda: other.nodes.hello(
            Hello(node="m02", session=agent.session, boot_id="b", version="1", engines={})
        ),
        "claim": lambda: other.jobs.claim(assignment.job_id, agent.session),
        "renew": lambda: other.jobs.renew(assignment.job_id, assignment.token),
        "finish": lambda: other.jobs.finish(assignment.job_id, assignment.token, Ending.COMPLETE),
        "record": lambda: other.runs.record([run]),
        "release": lambda: other.jobs.release_node("m01", uuid4()),
        "goodbye": lambda: other.nodes.goodbye(agent.session),
    }
    for attempt in attempts.values():
        with pytest.raises(RightsError, match="modescope_node_m02 does not speak for node m01"):
            attempt()
    assert agent.store.jobs.renew(assignment.job_id, assignment.token).granted
    assert agent.store.runs.record([run]).valid
    other.close()


def test_an_agent_reads_its_own_queue_alone(site: Site) -> None:
    mine, others = tasks.node_queue("m01"), tasks.node_queue("m02")
    with queue.redis_client(site.redis_url("api")) as api:
        api.rpush(mine, "for m01")
        api.rpush(others, "for m02")
    forbidden: Sequence[tuple[str, ...]] = [
        ("BRPOP", others, "1"), ("BRPOP", tasks.ANALYSIS_QUEUE, "1"), ("LRANGE", others, "0", "-1"),
        ("LPUSH", others, "x"), ("LPUSH", mine, "x"), ("DEL", others), ("KEYS", "*"), ("SCAN", "0"), ("FLUSHALL",),
        ("CONFIG", "GET", "*"), ("ACL", "LIST"), ("MONITOR",), ("SUBSCRIBE", tasks.stop_channel("m02")),
        ("PSUBSCRIBE", "*"), ("PUBLISH", tasks.stop_channel("m02"), "x"), ("EVAL", "return 1", "0"), ("SHUTDOWN",),
        ("SADD", f"_kombu.binding.{others}", "x"),
    ]  # fmt: skip
    with queue.redis_client(site.redis_url("node-m01")) as agent:
        assert agent.brpop([mine], timeout=1) == (mine.encode(), b"for m01")
        for words in forbidden:
            with refused(NoPermissionError):
                agent.execute_command(*words)
    with queue.redis_client(site.redis_url("api")) as api:
        assert api.lpop(others) == b"for m02"


def test_redis_lets_nobody_in_without_a_password(site: Site) -> None:
    address = site.redis_url("api").rpartition("@")[2]
    with queue.redis_client(f"redis://{address}") as stranger, refused(RedisError):
        stranger.ping()


def findings(**environment: str) -> dict[str, tuple[str, bool]]:
    """Part -> what `modescope doctor` saw, and whether it is fine."""
    ended = CliRunner().invoke(doctor, ["--json"], env=environment)
    return {one["part"]: (one["seen"], one["do"] is None) for one in json.loads(ended.stdout)["findings"]}


def test_the_doctor_is_content_with_these_users(site: Site, tmp_path: Path) -> None:
    seen = findings(MODESCOPE_HOME=str(tmp_path), **site.environment("api"))
    assert [seen[part] for part in ("rights", "password", "redis users")] == [
        ("comes in as modescope_api; agents and analysis workers have roles of their own", True),
        ("the database asks for SCRAM", True),
        ("nobody comes in without a password", True),
    ]


def test_the_doctor_finds_a_part_that_comes_in_as_the_owner(site: Site, owner: PostgresStore, tmp_path: Path) -> None:
    address = site.database_url("api").rpartition("@")[2]
    with psycopg.connect(site.owner_url, autocommit=True) as administrator:
        administrator.execute("ALTER ROLE modescope PASSWORD 'for a moment'")
        seen = findings(
            MODESCOPE_HOME=str(tmp_path),
            MODESCOPE_DATABASE_URL=f"postgresql://modescope:for%20a%20moment@{address}",
            MODESCOPE_REDIS_URL=site.redis_url("api"),
        )
        administrator.execute("ALTER ROLE modescope PASSWORD NULL")
    assert seen["rights"] == ("comes in as modescope, who owns the tables", False)
