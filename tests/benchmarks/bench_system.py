"""What the whole system costs, each part beside its physical neighbour in the same run.

    make bench-load                                                      # with the ledger's own bars
    python -m tests.benchmarks.bench_system [replay] [empty] [connections] [--share 0.1] [--json FILE]

`replay`: the published study played back by 12 agents, against empty tasks through 12 solo Celery workers, a bare COPY
of the run rows, and as many appends to spools. `empty`: /bin/true through the whole system, against HyperQueue.
`connections`: to the database, of 1,000 agents with runs of a minute. About half an hour; `--share 0.1`: four minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import queue as queue_of_threads
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import psycopg

from orchestrator import queue
from orchestrator.contracts.campaigns import Submission
from orchestrator.contracts.designs import Design
from orchestrator.contracts.errors import UnavailableError
from orchestrator.contracts.nodes import Hello
from orchestrator.contracts.runs import Run
from orchestrator.design import study
from orchestrator.design.submission import submission
from orchestrator.embedded.children import Child, Part, Role
from orchestrator.store.postgres import PostgresStore
from tests.benchmarks import bed as beds
from tests.benchmarks.bed import Bed
from workers import execute
from workers.benchmarks.engines import Bench
from workers.benchmarks.process import Runner
from workers.benchmarks.stop import Stop
from workers.homecoming import Homecoming
from workers.node.inventory import Inventory
from workers.node.journal import Journal
from workers.spool import Spool

AGENTS = 12
MIXTURE = "normal:0.6,900000,30000;0.4,1200000,40000"
PARTS = ("replay", "empty", "connections")
EMPTY_RUNS = 6000
EMPTY_AGENTS = 2
EMPTY_STUDY = """
name: empty programs
design: {blocks: [{levels: {step: [%s]}, modes: [version]}]}
replicates: 100
replicates_per_job: 100
engine: {name: command, program: "true"}
node: {frequency: as_is, sync: never, bounds: {}}
"""
EMPTY_INVENTORY = r"""
programs:
  "true": {path: /bin/true, arguments: [--version], metrics: {version: {pattern: 'coreutils\) ([\d.]+)', unit: kB/s}}}
"""
"""A run must say a number: GNU's /bin/true says its version. HyperQueue runs the same words."""
MANY_AGENTS = 1000
AGENTS_A_PROCESS = 50
LONG_RUNS = """
name: long runs
design: {blocks: [{levels: {step: [%s]}, modes: [readers]}]}
replicates: 3
replicates_per_job: 3
engine: {name: replay, mixture: "normal:1,1000,1", run_s: 20}
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bar:
    """A measured cost, its neighbour's, and what it may be."""

    what: str
    figures: dict[str, float]
    bar: str
    met: bool


def wait_until(holds: Callable[[], bool], what: str, *, within_s: float) -> None:
    deadline = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {within_s:.0f} s")
        time.sleep(0.1)


def start_agents(bed: Bed, store: PostgresStore, count: int) -> list[Child]:
    """Agents that are online, and a controller last in the list."""
    agents = [bed.start(bed.commands.agent(f"n{number}")) for number in range(count)]
    wait_until(lambda: sum(node.online for node in store.nodes.all()) == count, "agents online", within_s=300)
    return [*agents, bed.start(bed.commands.controller())]


def published_study(share: float) -> Submission:
    """All of it, or its first settings."""
    whole = submission(study.preset("xu2020").with_engine("replay", mixture=MIXTURE))
    count = round(len(whole.design.settings) * share)
    design = Design(factors=whole.design.factors, settings=whole.design.settings[:count])
    return replace(whole, design=design, jobs=[job for job in whole.jobs if job.setting < count])


def replay(share: float) -> Iterator[Bar]:
    """The study, and its three neighbours."""
    seconds: dict[str, float] = {}
    planned = published_study(share)
    with beds.made() as bed:
        store = PostgresStore(bed.database_url, keep=1)
        children = start_agents(bed, store, AGENTS)
        controller = children[-1].pid
        campaign, _ = store.campaigns.submit(planned)
        begin, used = time.perf_counter(), processor_s(bed, children)
        memory = watched(store, campaign.id, controller)
        seconds["replayed_s"] = time.perf_counter() - begin
        used = {part: 1000 * (now - used[part]) for part, now in processor_s(bed, children).items()}
        bed.end(children)
        runs = store.campaigns.progress(campaign.id).valid_runs
        store.close()
        seconds["empty_tasks_s"], empty_task_cpu_ms = empty_tasks(bed, len(planned.jobs))
        seconds["copy_s"] = bare_copy(bed.database_url)
        seconds["spool_s"] = spool_appends(bed.folder, runs)
    neighbours = seconds["empty_tasks_s"] + seconds["copy_s"] + seconds["spool_s"]
    ratio = seconds["replayed_s"] / neighbours
    figures = {"runs": runs, "jobs": len(planned.jobs), **seconds, "neighbours_s": neighbours, "ratio": ratio}
    figures["empty_task_cpu_ms"] = empty_task_cpu_ms
    figures |= {f"{part}_cpu_ms_a_job": ms / len(planned.jobs) for part, ms in used.items()}
    yield Bar(what="study replayed", figures=figures, bar="ratio <= 3", met=ratio <= 3)
    growth = memory[1] / memory[0]
    grown = {"first_quarter_kb": memory[0], "last_quarter_kb": memory[1], "growth": growth}
    yield Bar(what="controller's memory", figures=grown, bar="growth within 10 %", met=abs(growth - 1) <= 0.1)


def until_complete(store: PostgresStore, campaign_id: int, look: Callable[[int], None] = lambda _runs: None) -> int:
    """Wait for the end, and look each time how many runs there are; how many there were in the end."""
    while (seen := store.campaigns.progress(campaign_id)).campaign.state == "running":
        look(seen.valid_runs)
        time.sleep(0.1)
    if seen.campaign.state != "complete":
        raise RuntimeError(f"the campaign ended {seen.campaign.state}: {seen.campaign.missing}")
    return seen.valid_runs


def processor_s(bed: Bed, children: Sequence[Child]) -> dict[str, float]:
    """Seconds that each part has used so far; `children` as `start_agents` returns them."""
    *agents, controller = (child.pid for child in children)
    redis = bed.children[0].pid
    return {
        "agents": sum(map(beds.cpu_s, agents)),
        "controller": beds.cpu_s(controller),
        "redis": beds.cpu_s(redis),
        "postgres": beds.cpu_s(bed.postgres_pid),
    }


def watched(store: PostgresStore, campaign_id: int, controller: int) -> tuple[float, float]:
    """Wait for the end; the controller's resident memory in the first and in the last quarter of the runs, kB."""
    samples: list[tuple[int, int]] = []
    total = until_complete(store, campaign_id, lambda runs: samples.append((runs, beds.resident_kb(controller))))
    first = [kb for runs, kb in samples if 0 < runs <= total / 4]
    last = [kb for runs, kb in samples if runs >= total * 3 / 4]
    return statistics.fmean(first), statistics.fmean(last)


def empty_tasks(bed: Bed, count: int) -> tuple[float, float]:
    """As many messages as jobs, through solo workers with our settings and a task that does nothing.

    Seconds for all, and milliseconds of the workers' processor time for each.
    """
    workers = [bed.start(module(bed, "worker", bed.redis_url, f"bench.{number}")) for number in range(AGENTS)]
    app = queue.celery_app(bed.redis_url)
    with app.producer_pool.acquire(block=True) as producer, queue.redis_client(bed.redis_url) as redis:

        def send(tasks: int) -> None:
            for number in range(tasks):
                app.send_task("empty", queue=f"bench.{number % AGENTS}", producer=producer)
            wait_until(all_done, "empty tasks", within_s=3600)

        def all_done() -> bool:
            if not all(worker.running() for worker in workers):
                raise RuntimeError("a worker died")
            return not any(redis.exists("unacked", *(f"bench.{number}" for number in range(AGENTS))) for _ in range(2))

        send(AGENTS)  # they are up now
        begin, used = time.perf_counter(), sum(beds.cpu_s(worker.pid) for worker in workers)
        send(count)
        seconds = time.perf_counter() - begin
        used = sum(beds.cpu_s(worker.pid) for worker in workers) - used
    bed.end(workers)
    return seconds, 1000 * used / count


def be_worker(redis_url: str, queue_name: str) -> None:
    """A solo worker whose tasks are empty."""
    app = queue.celery_app(redis_url)

    @app.task(name="empty")  # type: ignore[untyped-decorator]  # celery is not typed
    def empty() -> None:
        """Nothing."""

    queue.work(app, queue_name, name=queue_name, chores={})


def bare_copy(database_url: str) -> float:
    """Seconds to COPY the rows of all runs into a table without keys."""
    with psycopg.connect(database_url) as connection:
        with connection.cursor().copy("COPY runs TO STDOUT (FORMAT binary)") as out:
            blocks = [bytes(block) for block in out]
        connection.execute("CREATE TABLE bare (LIKE runs)")
        begin = time.perf_counter()
        with connection.cursor().copy("COPY bare FROM STDIN (FORMAT binary)") as into:
            for block in blocks:
                into.write(block)
        connection.commit()
        return time.perf_counter() - begin


def spool_appends(folder: Path, runs: int) -> float:
    """Seconds of as many processes as there are agents, from the moment when all of them are up."""
    appenders = [
        subprocess.Popen(
            [*_MODULE, "appender", str(folder / f"spool{number}"), str(runs // AGENTS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for number in range(AGENTS)
    ]
    for appender in appenders:
        assert appender.stdout is not None
        appender.stdout.readline()
    begin = time.perf_counter()
    for appender in appenders:
        assert appender.stdin is not None
        appender.stdin.write(b"go\n")
        appender.stdin.close()
    if any(appender.wait() for appender in appenders):
        raise RuntimeError("an appender failed")
    return time.perf_counter() - begin


def append(folder: Path, runs: int) -> None:
    """Runs such as `replay` makes them, into one spool."""
    spool = Spool(folder, uuid.uuid4())
    session = uuid.uuid4()
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(runs):
        spool.append(
            Run(
                id=uuid.uuid4(), campaign_id=1, setting_id=1, job_id=number // 10, attempt=1, replicate=number % 10,
                try_number=0, session=session, sequence=number, started_at=time.time(), elapsed_s=0.0,
                engine="replay", engine_version="2", exit_status=0, values=(900000.123,) * 6, valid=True,
            )
        )  # fmt: skip
    spool.close()


def empty(share: float) -> Iterator[Bar]:
    """Programs a second, and HyperQueue's."""
    if find_spec("hyperqueue") is None:
        print("empty programs: left out, for HyperQueue is not installed (it is part of the extra `dev`)")
        return
    runs = max(200, round(EMPTY_RUNS * share / 100) * 100)
    with beds.made() as bed:
        (bed.folder / "inventory.yaml").write_text(EMPTY_INVENTORY)
        store = PostgresStore(bed.database_url, keep=1)
        children = start_agents(bed, store, EMPTY_AGENTS)
        steps = ", ".join(str(step) for step in range(runs // 100))
        planned = submission(study.load(EMPTY_STUDY % steps, where="empty"))
        begin, used = time.perf_counter(), processor_s(bed, children)
        campaign, _ = store.campaigns.submit(planned)
        until_complete(store, campaign.id)
        ours = runs / (time.perf_counter() - begin)
        ended = processor_s(bed, children)
        cpu = {f"{part}_cpu_ms_a_run": 1000 * (ended[part] - used[part]) / runs for part in used}
        store.close()
    theirs = hyperqueue(runs)
    figures = {"runs": runs, "ours_per_s": ours, "hyperqueue_per_s": theirs, "ratio": ours / theirs, **cpu}
    yield Bar(what="empty programs", figures=figures, bar="ratio > 1", met=ours > theirs)


def connections(share: float) -> Iterator[Bar]:
    """How many agents have a connection at a time, when each has three runs of 20 s and brings them home."""
    agents = round(MANY_AGENTS * share)
    steps = ", ".join(str(step) for step in range(agents))
    with beds.made() as bed:
        store = PostgresStore(bed.database_url, keep=1)
        firsts = range(0, agents, AGENTS_A_PROCESS)
        crowds = [bed.start(module(bed, "crowd", bed.database_url, str(bed.folder), str(first))) for first in firsts]
        wait_until(lambda: len(store.nodes.all()) >= agents, "agents online", within_s=600)
        bed.start(bed.commands.controller())
        campaign, _ = store.campaigns.submit(submission(study.load(LONG_RUNS % steps, where="long runs")))
        counted = []
        while store.campaigns.progress(campaign.id).campaign.state == "running":
            counted.append(connected(bed.database_url))
            time.sleep(0.1)
            if not all(crowd.running() for crowd in crowds):
                raise RuntimeError("a crowd of agents died")
        store.close()
    mean = statistics.fmean(counted)
    figures = {"agents": agents, "mean": mean, "median": statistics.median(counted), "most": max(counted)}
    yield Bar(what="connections of agents", figures=figures, bar="mean <= agents / 20", met=mean <= agents / 20)


def connected(database_url: str) -> int:
    """Connections of agents at this moment."""
    with psycopg.connect(database_url, application_name="bench") as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name = '' "
            "AND query NOT LIKE 'LISTEN%'"
        ).fetchone()
    return int(row[0]) if row else 0


def be_crowd(database_url: str, folder: Path, first: int) -> None:
    """Agents in threads, with stores of their own; one reader looks for what is offered to them, as Celery would."""
    offered: dict[str, queue_of_threads.SimpleQueue[int]] = {}
    for number in range(first, first + AGENTS_A_PROCESS):
        mine = offered[f"many{number}"] = queue_of_threads.SimpleQueue()
        threading.Thread(target=be_agent, args=(database_url, folder, f"many{number}", mine), daemon=True).start()
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


def be_agent(database_url: str, folder: Path, node: str, jobs: queue_of_threads.SimpleQueue[int]) -> None:
    """What `workers.agent` does, without Celery and without a process of its own."""
    state = folder / node
    store = PostgresStore(database_url, keep=1)
    session = uuid.uuid4()
    hello = Hello(node=node, session=session, boot_id="b", version="1", engines={"replay": "2"})
    stop = Stop()
    bench = Bench(
        node=node, runner=Runner(Journal(state), stop), inventory=Inventory(targets={"default": state}), state=state
    )
    homecoming = Homecoming(store, Spool(state, store.ledger), state / "refused.jsonl")
    workplace = execute.Workplace(store=store, session=session, bench=bench, homecoming=homecoming, shared=True)
    while True:
        with suppress(UnavailableError):  # too many came at once; it says so again
            store.nodes.hello(hello)
        store.hang_up()
        with suppress(queue_of_threads.Empty):
            execute.execute(jobs.get(timeout=10), workplace)


def hyperqueue(tasks: int) -> float:
    """Tasks a second of its server and two workers with a CPU each, in processes of their own."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        told = subprocess.run(
            [*_MODULE, "hyperqueue", str(tasks)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            check=True, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        )  # fmt: skip
    return float(told.stdout.split()[-1])


def be_hyperqueue(tasks: int) -> None:
    """Print how many tasks a second it did."""
    from hyperqueue import Job, LocalCluster
    from hyperqueue.cluster import WorkerConfig

    with LocalCluster() as cluster:
        for _ in range(EMPTY_AGENTS):
            cluster.start_worker(WorkerConfig(cores=1))
        client = cluster.client()
        job = Job()
        for _ in range(tasks):
            job.program(["/bin/true", "--version"])
        begin = time.perf_counter()
        client.wait_for_jobs([client.submit(job)])
        print(tasks / (time.perf_counter() - begin))


_MODULE = (sys.executable, "-m", "tests.benchmarks.bench_system")


def module(bed: Bed, *arguments: str) -> Part:
    """This file in a process of the bed."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    name = f"{arguments[0]}-{arguments[-1]}"
    log = bed.folder / "logs" / f"{name}.log"
    return Part(role=Role.AGENT, name=name, command=(*_MODULE, *arguments), log=log, environment=environment)


def show(bars: list[Bar]) -> None:
    """The table."""
    for bar in bars:
        print(f"{bar.what:24s} {bar.bar:20s} {'met' if bar.met else 'NOT MET'}")
        for name, figure in bar.figures.items():
            print(f"    {name:24s} {figure:14.3f}")


def main() -> None:
    match sys.argv[1:]:
        case ["worker", redis_url, queue_name]:
            be_worker(redis_url, queue_name)
        case ["appender", folder, runs]:
            append(Path(folder), int(runs))
        case ["crowd", database_url, folder, first]:
            be_crowd(database_url, Path(folder), int(first))
        case ["hyperqueue", tasks]:
            be_hyperqueue(int(tasks))
        case _:
            measure()


def measure() -> None:
    """What was asked for, one part after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all where none is named")
    parser.add_argument("--share", type=float, default=1.0, help="of the study, and of the empty programs")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    given = parser.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; known: {', '.join(PARTS)}")
    measures = {"replay": replay, "empty": empty, "connections": connections}
    bars = [bar for part in given.parts or PARTS for bar in measures[part](given.share)]
    show(bars)
    if given.json is not None:
        given.json.write_text(json.dumps([asdict(bar) for bar in bars], indent=1))


if __name__ == "__main__":
    main()
