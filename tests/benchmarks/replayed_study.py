"""The published study played back by twelve agents, and what it is made of: empty tasks, a COPY, appends to spools."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import psycopg

from orchestrator import queue
from orchestrator.contracts.campaigns import Submission
from orchestrator.contracts.designs import Design
from orchestrator.contracts.runs import Run
from orchestrator.design import study
from orchestrator.design.submission import submission
from orchestrator.embedded.children import Child
from orchestrator.store.postgres import PostgresStore
from tests.benchmarks import bed as beds
from tests.benchmarks.bars import Line
from tests.benchmarks.bed import Bed, wait_until
from workers.spool import Spool

AGENTS = 12
LOOK_EVERY_S = 0.5
"""Looking costs 10 ms of the processors that are measured."""
MIXTURE = "normal:0.6,900000,30000;0.4,1200000,40000"
MODULE = "tests.benchmarks.replayed_study"


def measure(share: float) -> Iterator[Line]:
    """The study, or a part of it, and its three neighbours."""
    planned = published_study(share)
    jobs = len(planned.jobs)
    with beds.made() as bed:
        store = PostgresStore(bed.database_url, keep=1)
        children = bed.start_agents(store, AGENTS)
        campaign, _ = store.campaigns.submit(planned)
        begin, used = time.perf_counter(), processor_s(bed, children)
        memory = _watched(store, campaign.id, children[-1].pid)
        seconds = {"replayed_s": time.perf_counter() - begin}
        used = {part: 1000 * (now - used[part]) for part, now in processor_s(bed, children).items()}
        bed.end(children)
        runs = store.campaigns.progress(campaign.id).valid_runs
        store.close()
        seconds["empty_tasks_s"], empty_task_cpu_ms = _empty_tasks(bed, jobs)
        seconds["copy_s"] = _bare_copy(bed.database_url)
        seconds["spool_s"] = _spool_appends(bed.folder, runs)
    neighbours_s = seconds["empty_tasks_s"] + seconds["copy_s"] + seconds["spool_s"]
    ratio = seconds["replayed_s"] / neighbours_s
    figures = {"runs": runs, "jobs": jobs, **seconds, "neighbours_s": neighbours_s}
    figures["wall_ms_a_job"] = 1000 * seconds["replayed_s"] / jobs
    figures["empty_task_cpu_ms"] = empty_task_cpu_ms
    figures |= {f"{part}_cpu_ms_a_job": ms / jobs for part, ms in used.items()}
    yield Line(
        what=f"{runs:,} runs in {jobs:,} jobs replayed, s: {seconds['replayed_s']:.0f} / neighbours {neighbours_s:.0f}",
        bar="ratio <= 3",
        measured=f"{ratio:.2f}",
        met=ratio <= 3,
        figures=figures,
    )
    growth = memory[1] / memory[0]
    yield Line(
        what="the controller's memory, last quarter / first",
        bar="within 10 %",
        measured=f"{growth:.3f}",
        met=abs(growth - 1) <= 0.1,
        figures={"first_quarter_kb": memory[0], "last_quarter_kb": memory[1]},
    )


def published_study(share: float) -> Submission:
    """All of it, or its first settings."""
    whole = submission(study.preset("xu2020").with_engine("replay", mixture=MIXTURE))
    count = round(len(whole.design.settings) * share)
    design = Design(factors=whole.design.factors, settings=whole.design.settings[:count])
    return replace(whole, design=design, jobs=[job for job in whole.jobs if job.setting < count])


def until_complete(store: PostgresStore, campaign_id: int, look: Callable[[int], None] = lambda _runs: None) -> int:
    """Wait for the end, and look each time how many runs there are; how many there were in the end."""
    while (seen := store.campaigns.progress(campaign_id)).campaign.state == "running":
        look(seen.valid_runs)
        time.sleep(LOOK_EVERY_S)
    if seen.campaign.state != "complete":
        raise RuntimeError(f"the campaign ended {seen.campaign.state}: {seen.campaign.missing}")
    return seen.valid_runs


def processor_s(bed: Bed, children: Sequence[Child]) -> dict[str, float]:
    """Seconds that each part has used so far; `children` as `Bed.start_agents` returns them."""
    *agents, controller = (child.pid for child in children)
    return {
        "agents": sum(map(beds.cpu_s, agents)),
        "controller": beds.cpu_s(controller),
        "redis": beds.cpu_s(bed.children[0].pid),
        "postgres": beds.cpu_s(bed.postgres_pid),
    }


def _watched(store: PostgresStore, campaign_id: int, controller: int) -> tuple[float, float]:
    """Wait for the end; the controller's resident memory in the first and in the last quarter of the runs, kB."""
    samples: list[tuple[int, int]] = []
    total = until_complete(store, campaign_id, lambda runs: samples.append((runs, beds.resident_kb(controller))))
    first = [kb for runs, kb in samples if 0 < runs <= total / 4]
    last = [kb for runs, kb in samples if runs >= total * 3 / 4]
    return statistics.fmean(first), statistics.fmean(last)


def _empty_tasks(bed: Bed, count: int) -> tuple[float, float]:
    """As many messages as jobs, through solo workers with our settings and a task that does nothing.

    Seconds for all, and milliseconds of the workers' processor time for each.
    """
    names = [f"bench.{number}" for number in range(AGENTS)]
    workers = [bed.start(bed.module(MODULE, "worker", bed.redis_url, name)) for name in names]
    app = queue.celery_app(bed.redis_url)
    with app.producer_pool.acquire(block=True) as producer, queue.redis_client(bed.redis_url) as redis:

        def send(tasks: int) -> None:
            for number in range(tasks):
                app.send_task("empty", queue=names[number % AGENTS], producer=producer)
            wait_until(all_done, "empty tasks", within_s=3600)

        def all_done() -> bool:
            if not all(worker.running() for worker in workers):
                raise RuntimeError("a worker died")
            return not any(redis.exists("unacked", *names) for _ in range(2))

        send(AGENTS)  # they are up now
        begin, used = time.perf_counter(), sum(beds.cpu_s(worker.pid) for worker in workers)
        send(count)
        seconds = time.perf_counter() - begin
        used = sum(beds.cpu_s(worker.pid) for worker in workers) - used
    bed.end(workers)
    return seconds, 1000 * used / count


def _be_worker(redis_url: str, queue_name: str) -> None:
    """A solo worker whose tasks are empty."""
    app = queue.celery_app(redis_url)

    @app.task(name="empty")  # type: ignore[untyped-decorator]  # celery is not typed
    def empty() -> None:
        """Nothing."""

    queue.work(app, queue_name, name=queue_name, chores={})


def _bare_copy(database_url: str) -> float:
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


def _spool_appends(folder: Path, runs: int) -> float:
    """Seconds of as many processes as there are agents, from the moment when all of them are up."""
    appenders = [
        subprocess.Popen(
            [sys.executable, "-m", MODULE, "appender", str(folder / f"spool{number}"), str(runs // AGENTS)],
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


def _append(folder: Path, runs: int) -> None:
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


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["worker", redis_url, queue_name]:
            _be_worker(redis_url, queue_name)
        case ["appender", folder, runs]:
            _append(Path(folder), int(runs))
