"""Who gets which jobs, with real agents on fake machines: Celery, Redis and PostgreSQL as in production."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Thread

import psycopg
import pytest

from orchestrator import wiring
from orchestrator.contracts.campaigns import EventKind, State
from orchestrator.contracts.errors import ConflictError
from orchestrator.contracts.nodes import NodeState
from orchestrator.design import submission
from orchestrator.design.study import load
from orchestrator.settings import Settings
from orchestrator.store.postgres import PostgresStore
from tests.integration.placement_agents import COMES_BACK
from tests.unit.workers import machines
from tests.waiting import wait_for
from workers.node import lock

SHARED_OUT = """
name: shared out
design:
  blocks:
    - levels: {threads: [1, 2], file_size_kb: [64, 128], record_size_kb: [64]}
      modes: [initial_writers]
replicates: 30
replicates_per_job: 1
placement: balanced
engine: builtin
node: {governor: powersave}
"""
ONE_PROGRAM = """
name: one program
design:
  blocks:
    - {levels: {word: [a, b, c]}, modes: [size]}
replicates: 16
replicates_per_job: 1
placement: balanced
engine: {name: command, program: measure}
"""
PROGRAM = "programs: {measure: {path: %s, arguments: ['{word} 1'], metrics: {size: {pattern: '(\\d+)', unit: kB/s}}}}\n"


class Fleet:
    """Nodes with their agents, a controller, and their ledger."""

    def __init__(self, settings: Settings, store: PostgresStore, names: list[str]) -> None:
        self.settings = settings
        self.store = store
        self.names = names
        self.behind = psycopg.connect(settings.database_url, autocommit=True)

    def home(self, name: str) -> Path:
        return self.settings.home / name

    def root(self, name: str) -> Path:
        """The files in the place of this node's /."""
        return self.home(name) / "root"

    def online(self) -> list[str]:
        return [node.name for node in self.store.nodes.all() if node.online]

    def submit(self, study: str) -> int:
        campaign, _ = self.store.campaigns.submit(submission.submission(load(study, where="test")))
        return campaign.id

    def jobs(self, campaign_id: int) -> Counter[str]:
        return Counter(self.store.campaigns.progress(campaign_id).jobs)

    def wait_for_the_end(self, campaign_id: int) -> State:
        ended = wait_for(
            "the end",
            lambda: self.store.campaigns.progress(campaign_id),
            lambda seen: seen.campaign.state is not State.RUNNING,
        )
        return ended.campaign.state

    def shares(self, campaign_id: int) -> dict[object, Counter[str]]:
        """Setting -> node -> jobs that it did."""
        found: dict[object, Counter[str]] = {}
        for levels, node, _ in {(row.levels, row.node, row.job) for row in self.store.campaigns.export(campaign_id)}:
            found.setdefault(levels, Counter())[node] += 1
        return found

    def starts(self, campaign_id: int) -> list[tuple[int, float, float]]:
        """Round, the instant given to it, and when the run began, of each valid run."""
        query = """
            SELECT j.round, extract(epoch FROM j.start_at)::float8, extract(epoch FROM r.started_at)::float8
            FROM jobs AS j JOIN runs AS r ON r.setting_id = j.setting_id AND r.job_id = j.id AND r.validity = 'valid'
            WHERE j.campaign_id = %s"""
        return [
            (number, start_at, began_at) for number, start_at, began_at in self.behind.execute(query, [campaign_id])
        ]

    def kill(self, name: str) -> None:
        """The agent dies without a word."""
        os.kill(int((self.home(name) / "pid").read_text()), signal.SIGKILL)


@contextmanager
def fleet(database_url: str, redis_url: str, names: list[str], *, without_program: str = "") -> Iterator[Fleet]:
    """A node for every name, all of them online."""
    folder = Path(tempfile.mkdtemp(prefix="ms-fleet-", dir="/var/tmp"))
    program = folder / "measure"
    program.write_text("#!/bin/sh\necho 17\n")
    program.chmod(0o755)
    for name in names:
        machines.unpack(machines.XEON, folder / name / "root")
        found = folder / "nowhere" if name == without_program else program
        (folder / name / "inventory.yaml").write_text(PROGRAM % found)
    settings = Settings(database_url=database_url, redis_url=redis_url, home=folder)
    named = {"MODESCOPE_DATABASE_URL": database_url, "MODESCOPE_REDIS_URL": redis_url, "MODESCOPE_HOME": str(folder)}
    command = [sys.executable, "-m", "tests.integration.placement_agents", str(folder), *names]
    with (folder / "agents.log").open("w") as log:
        agents = subprocess.Popen(command, env={**os.environ, **named}, stderr=log)
    controller = wiring.open_controller(settings)
    leading = Thread(target=controller.run)
    leading.start()
    try:
        with closing(PostgresStore(database_url, keep=1)) as store:
            made = Fleet(settings, store, names)
            with closing(made.behind):
                wait_for("all agents online", made.online, lambda online: len(online) == len(names))
                yield made
    finally:
        controller.stop()
        leading.join()
        agents.terminate()
        agents.wait()
        shutil.rmtree(folder)


def test_twelve_nodes_share_every_setting_and_do_one_job_at_a_time(database_url: str, redis_url: str) -> None:
    names = [f"n{number:02d}" for number in range(1, 13)]
    with fleet(database_url, redis_url, names) as nodes:
        before = {name: machines.contents(nodes.root(name)) for name in names}
        campaign_id = nodes.submit(SHARED_OUT)
        assert nodes.wait_for_the_end(campaign_id) is State.COMPLETE
        for shares in nodes.shares(campaign_id).values():
            assert set(shares) == set(names)
            assert set(shares.values()) <= {2, 3}  # 30 jobs for 12 nodes
        assert overlapping_runs(nodes) == 0
        wait_for("nodes at rest", lambda: nodes.jobs(campaign_id), lambda jobs: +jobs == {"done": 120})
        assert {name: machines.contents(nodes.root(name)) for name in names} == before
        with pytest.raises(ConflictError, match="another agent works for this node"):
            lock.hold(nodes.home("n01") / "nodes" / "n01")
        with pytest.raises(psycopg.errors.UniqueViolation, match="jobs_one_lease_per_node"):
            nodes.behind.execute(TWO_LEASES, [campaign_id])


TWO_LEASES = """
    UPDATE jobs SET state = 'leased', token = gen_random_uuid(), lease_until = clock_timestamp(), node_id = 1
    WHERE campaign_id = %s AND position IN (0, 1)
"""


def overlapping_runs(nodes: Fleet) -> int:
    """Runs that began on a node before its previous one had ended."""
    row = nodes.behind.execute("""
        SELECT count(*) FROM (
            SELECT r.started_at, lag(r.started_at + make_interval(secs => r.elapsed_s)) OVER (
                PARTITION BY s.node_id ORDER BY r.started_at) AS previous_ended_at
            FROM runs AS r JOIN sessions AS s ON s.id = r.session_id
        ) AS r WHERE r.started_at < r.previous_ended_at
    """).fetchone()
    assert row is not None
    return int(row[0])


def test_when_one_of_four_nodes_lacks_the_program_the_others_do_its_share(database_url: str, redis_url: str) -> None:
    names = ["n1", "n2", "n3", "n4"]
    with fleet(database_url, redis_url, names, without_program="n4") as nodes:
        campaign_id = nodes.submit(ONE_PROGRAM)
        assert nodes.wait_for_the_end(campaign_id) is State.COMPLETE
        (sick,) = (node for node in nodes.store.nodes.all() if node.state is NodeState.QUARANTINED)
        assert (sick.name, sick.reason) == (
            "n4",
            f"{nodes.settings.home}/nowhere: no such program, or it may not be executed",
        )
        kinds = {event.kind for event in nodes.store.campaigns.events(campaign_id)}
        assert kinds == {EventKind.NODE_QUARANTINED, EventKind.CAMPAIGN_COMPLETE}
        assert +nodes.jobs(campaign_id) == {"done": 48}
        for shares in nodes.shares(campaign_id).values():
            assert set(shares) == {"n1", "n2", "n3"}
            assert max(shares.values()) - min(shares.values()) <= 1


def test_when_a_node_is_lost_the_others_do_its_share_and_the_campaign_says_so(
    database_url: str, redis_url: str
) -> None:
    names = ["n1", "n2", "n3", "n4"]
    with fleet(database_url, redis_url, names) as nodes:
        campaign_id = nodes.submit(SHARED_OUT)
        wait_for("some jobs", lambda: nodes.jobs(campaign_id), lambda jobs: jobs["done"] > 10)
        nodes.kill("n4")
        nodes.behind.execute("UPDATE nodes SET seen_at = seen_at - interval '1 min' WHERE name = 'n4'")
        nodes.behind.execute(
            "UPDATE jobs SET lease_until = clock_timestamp() FROM nodes AS n "
            "WHERE n.id = node_id AND n.name = 'n4' AND jobs.state = 'leased'"
        )
        wait_for(
            "only its share is left",
            lambda: nodes.store.campaigns.progress(campaign_id),
            lambda seen: seen.waits_for == ("n4",) and seen.jobs.get("leased", 0) + seen.jobs.get("offered", 0) == 0,
        )
        nodes.behind.execute("UPDATE nodes SET offline_since = offline_since - interval '16 min' WHERE name = 'n4'")
        nodes.behind.execute("UPDATE campaigns SET created_at = created_at - interval '16 min'")
        assert nodes.wait_for_the_end(campaign_id) is State.COMPLETE
        kinds = [event.kind for event in nodes.store.campaigns.events(campaign_id)]
        assert kinds == [EventKind.CAMPAIGN_COMPLETE, EventKind.NODE_LOST]
        for shares in nodes.shares(campaign_id).values():
            stayed = [shares[name] for name in ("n1", "n2", "n3")]
            assert max(stayed) - min(stayed) <= 1


IN_LOCKSTEP = """
name: in lockstep
design:
  blocks:
    - {levels: {word: [a, b]}, modes: [size]}
replicates: 3
placement: {kind: lockstep, nodes: [n1, n2, n3], wait_s: 20}
engine: {name: command, program: measure}
"""


def test_three_nodes_begin_every_round_together_also_after_one_was_killed_in_the_middle(
    database_url: str, redis_url: str
) -> None:
    names = ["n1", "n2", "n3"]
    with fleet(database_url, redis_url, names) as nodes:
        campaign_id = nodes.submit(IN_LOCKSTEP)
        wait_for("a few rounds", lambda: nodes.jobs(campaign_id), lambda jobs: jobs["done"] >= 3)
        (nodes.home("n3") / COMES_BACK).touch()
        nodes.kill("n3")
        assert nodes.wait_for_the_end(campaign_id) is State.COMPLETE
        starts = nodes.starts(campaign_id)
    assert len(starts) == 18
    together = Counter((number, start_at) for number, start_at, _ in starts)
    whole = sum(count == 3 for count in together.values())
    assert whole >= 4  # of 6: the killed node missed one, or two
    assert max(together.values()) == 3
    assert all(began_at >= start_at for _, start_at, began_at in starts)
