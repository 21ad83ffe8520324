"""Connections to the database that a thousand agents hold, each with three runs of 20 s that it brings home.

Simulated: threads that do what `workers.agent` does, with a store each, and without Celery and a process of their own.
"""

from __future__ import annotations

import queue as queue_of_threads
import statistics
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psycopg

from orchestrator.contracts.errors import UnavailableError
from orchestrator.contracts.nodes import Hello
from orchestrator.design import study
from orchestrator.design.submission import submission
from orchestrator.store.postgres import PostgresStore
from tests.benchmarks import bed as beds
from tests.benchmarks.bars import Line
from tests.benchmarks.bed import wait_until
from workers import execute
from workers.benchmarks.engines import Bench
from workers.benchmarks.process import Runner
from workers.benchmarks.stop import Stop
from workers.homecoming import Homecoming
from workers.node.inventory import Inventory
from workers.node.journal import Journal
from workers.spool import Spool

MODULE = "tests.benchmarks.many_agents"
AGENTS = 1000
AGENTS_A_PROCESS = 50
STUDY = """
name: long runs
design: {blocks: [{levels: {step: [%s]}, modes: [readers]}]}
replicates: 3
replicates_per_job: 3
engine: {name: replay, mixture: "normal:1,1000,1", run_s: 20}
"""


def measure(share: float) -> Iterator[Line]:
    """How many agents have a connection at a time, from the first claim to the end of the campaign."""
    agents = max(AGENTS_A_PROCESS, round(AGENTS * share))
    steps = ", ".join(str(step) for step in range(agents))
    # Who counts holds a connection from before the agents come: a thousand fill the socket's queue.
    with beds.made() as bed, psycopg.connect(bed.database_url, autocommit=True, application_name="bench") as looking:
        store = PostgresStore(bed.database_url, keep=1)
        firsts = range(0, agents, AGENTS_A_PROCESS)
        crowds = [bed.start(bed.module(MODULE, bed.database_url, str(bed.folder), str(first))) for first in firsts]
        wait_until(lambda: len(store.nodes.all()) >= agents, "agents online", within_s=600)
        bed.start(bed.commands.controller())
        campaign, _ = store.campaigns.submit(submission(study.load(STUDY % steps, where="long runs")))
        counted = []
        while store.campaigns.progress(campaign.id).campaign.state == "running":
            counted.append(_connected(looking))
            time.sleep(0.1)
            if not all(crowd.running() for crowd in crowds):
                raise RuntimeError("a crowd of agents died")
        store.close()
    mean, most = statistics.fmean(counted), max(counted)
    yield Line(
        what=f"connections of {agents:,} agents, on average (at most {most})",
        bar=f"<= {agents // 20}",
        measured=f"{mean:.1f}",
        met=mean <= agents / 20,
        figures={"agents": agents, "mean": mean, "median": statistics.median(counted), "most": most},
    )


def _connected(looking: psycopg.Connection[tuple[int]]) -> int:
    """Connections of agents at this moment."""
    row = looking.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name = '' "
        "AND query NOT LIKE 'LISTEN%'"
    ).fetchone()
    return row[0] if row else 0


def _be_crowd(database_url: str, folder: Path, first: int) -> None:
    """Agents in threads, with stores of their own; one reader looks for what is offered to them, as Celery would."""
    offered: dict[str, queue_of_threads.SimpleQueue[int]] = {}
    for number in range(first, first + AGENTS_A_PROCESS):
        mine = offered[f"many{number}"] = queue_of_threads.SimpleQueue()
        threading.Thread(target=_be_agent, args=(database_url, folder, f"many{number}", mine), daemon=True).start()
    told: set[int] = set()
    with psycopg.connect(database_url, autocommit=True, application_name="bench") as connection:
        while True:
            rows = connection.execute(
                "SELECT j.id, n.name FROM jobs AS j JOIN nodes AS n ON n.id = j.node_id "
                "WHERE j.state = 'offered' AND n.name = ANY (%s)",
                [list(offered)],
            ).fetchall()
            for job, node in rows:
                if job not in told:
                    offered[node].put(job)
            told = {job for job, _ in rows}
            time.sleep(0.5)


def _be_agent(database_url: str, folder: Path, node: str, jobs: queue_of_threads.SimpleQueue[int]) -> None:
    state = folder / node
    store = PostgresStore(database_url, keep=1)
    session = uuid.uuid4()
    hello = Hello(node=node, session=session, boot_id="b", version="1", engines={"replay": "2"})
    stop = Stop()
    bench = Bench(
        node=node, runner=Runner(Journal(state), stop), inventory=Inventory(targets={"default": state}), state=state
    )
    homecoming = Homecoming(store, Spool(state, _ledger(store)), state / "refused.jsonl")
    workplace = execute.Workplace(store=store, session=session, bench=bench, homecoming=homecoming, shared=True)
    while True:
        with suppress(UnavailableError):  # too many came at once; it says so again
            store.nodes.hello(hello)
        store.hang_up()
        with suppress(queue_of_threads.Empty):
            execute.execute(jobs.get(timeout=10), workplace)


def _ledger(store: PostgresStore) -> uuid.UUID:
    """As soon as there is a connection for us: a thousand come at once."""
    while True:
        try:
            return store.ledger
        except UnavailableError:
            time.sleep(0.2)


if __name__ == "__main__":
    _be_crowd(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
