"""The same invocations under an agent, in a bare loop of the engine, and in a loop of the shell."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.contracts.campaigns import Submission
from orchestrator.contracts.designs import Design, Setting
from orchestrator.contracts.engines import IozoneOptions
from orchestrator.contracts.jobs import PlannedJob
from orchestrator.contracts.nodes import Hello
from orchestrator.contracts.preparation import Preparation
from orchestrator.contracts.runs import Run
from orchestrator.store.postgres import PostgresStore
from tests.benchmarks.servers import migrated_database, private_postgres
from workers import execute
from workers.benchmarks import engines, iozone, settle
from workers.benchmarks.engines import Bench
from workers.benchmarks.port import Succeeded, Task
from workers.benchmarks.process import Runner
from workers.benchmarks.stop import Stop
from workers.homecoming import Homecoming
from workers.node.inventory import Inventory
from workers.node.journal import Journal
from workers.spool import Spool

MODES = ("initial_writers", "rewriters", "readers")
FACTORS = ("threads", "file_size_kb", "record_size_kb")
JOBS_A_TURN, RUNS_A_JOB = 2, 10
"""As many jobs as a node has outstanding: the second is claimed by the call that brings the first home."""
RUNS_A_TURN = JOBS_A_TURN * RUNS_A_JOB
SHELL_LOOP = """
runs=$1; shift
while [ "$runs" -gt 0 ]; do
    mkdir run && cd run && "$@" >../output 2>&1 && cd .. && rm -r run || exit 1
    runs=$((runs - 1))
done
"""


@dataclass(frozen=True, kw_only=True)
class Work:
    """What is run again and again."""

    engine: str
    options: Mapping[str, object]
    levels: tuple[int, ...]

    @property
    def task(self) -> Task:
        """As an engine takes it."""
        return Task(setting=dict(zip(FACTORS, self.levels, strict=True)), modes=MODES)


@dataclass(kw_only=True)
class Way:
    """Runs made one way."""

    turns_s: list[float] = field(default_factory=list)
    """How long each `RUNS_A_TURN` runs took with all that is around them."""
    benchmark_s: float = 0.0
    values: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    @property
    def runs(self) -> int:
        return RUNS_A_TURN * len(self.turns_s)

    @property
    def outside_s(self) -> float:
        """Of a run: what is not the benchmark, from the start of its program to its end."""
        return (sum(self.turns_s) - self.benchmark_s) / self.runs

    def add(self, elapsed_s: float, values: Sequence[float]) -> None:
        self.benchmark_s += elapsed_s
        for mode, value in zip(MODES, values, strict=True):
            self.values[mode].append(value)


@dataclass(kw_only=True)
class Node:
    """A node, and its ledger in a PostgreSQL of its own that syncs."""

    store: PostgresStore
    bench: Bench
    session: uuid.UUID

    def under_the_agent(self, work: Work, way: Way) -> None:
        """Jobs: claim, prepare, runs into a spool on the disk, upload, give back."""
        self.store.campaigns.submit(submission(work))
        offers = self.store.control.dispatch()
        spool = Spool(self.bench.state, self.store.ledger)
        kept: list[Run] = []
        homecoming = Homecoming(self.store, spool, self.bench.state / "refused")
        keep = homecoming.keep

        def remember(run: Run) -> None:
            kept.append(run)
            keep(run)

        homecoming.keep = remember  # type: ignore[method-assign]  # to see the runs before they leave the spool
        at = execute.Workplace(
            store=self.store, session=self.session, bench=self.bench, homecoming=homecoming, shared=True
        )
        begin = time.perf_counter()
        execute.execute(offers[0].job_id, at)
        way.turns_s.append(time.perf_counter() - begin)
        spool.close()
        assert len(kept) == RUNS_A_TURN, "a run was not valid"
        for run in kept:
            way.add(run.elapsed_s, run.values)

    def in_a_loop(self, work: Work, way: Way) -> None:
        """The engine alone, with nothing around it."""
        engine = engines.engine(work.engine, work.options, self.bench)
        begin = time.perf_counter()
        outcomes = [engine.run(work.task, replicate) for replicate in range(RUNS_A_TURN)]
        way.turns_s.append(time.perf_counter() - begin)
        for outcome in outcomes:
            assert isinstance(outcome, Succeeded), outcome
            way.add(outcome.elapsed_s, outcome.values)

    def in_the_shell(self, work: Work, way: Way) -> None:
        """IOzone as somebody would call it who has no Modescope; not even what it prints is read."""
        options = IozoneOptions(**work.options)  # type: ignore[arg-type]  # the study's own words
        preload = {"LD_PRELOAD": str(settle.library(self.bench.state).resolve()), settle.NANOSECONDS: "0"}
        argv = ["sh", "-c", SHELL_LOOP, "loop", str(RUNS_A_TURN), "iozone", *iozone.arguments(work.task, options)]
        begin = time.perf_counter()
        subprocess.run(argv, cwd=self.bench.target.path, env={"PATH": os.defpath, **preload}, check=True)
        way.turns_s.append(time.perf_counter() - begin)


@contextmanager
def node() -> Iterator[Node]:
    """A node that has reported to its ledger."""
    folder = Path(tempfile.mkdtemp(prefix="ms-", dir="/var/tmp"))
    (folder / "target").mkdir()
    inventory = Inventory(targets={"default": folder / "target"}, reserve_kb=0)
    stop = Stop()
    runner = Runner(Journal(folder), stop)
    bench = Bench(node="bench", runner=runner, inventory=inventory, state=folder)
    session = uuid.uuid4()
    try:
        with (
            private_postgres() as cluster,
            migrated_database(cluster) as url,
            closing(PostgresStore(url, keep=1)) as store,
        ):
            offered = engines.available(bench)
            store.nodes.hello(Hello(node="bench", session=session, boot_id="b", version="1", engines=offered))
            yield Node(store=store, bench=bench, session=session)
    finally:
        runner.close()
        stop.close()
        shutil.rmtree(folder)


def submission(work: Work) -> Submission:
    """A campaign of one setting."""
    jobs = [
        PlannedJob(setting=0, block=at, position=at, first_replicate=at * RUNS_A_JOB, replicates=RUNS_A_JOB)
        for at in range(JOBS_A_TURN)
    ]
    return Submission(
        name="bench",
        study={"name": "bench", "replicates": RUNS_A_TURN},
        design=Design(factors=FACTORS, settings=(Setting(ordinal=0, levels=work.levels, modes=MODES),)),
        replicates=RUNS_A_TURN,
        engine=work.engine,
        engine_options=work.options,
        node_options=Preparation().as_dict(),
        analysis_options={"min_n": 1},
        placement="any",
        max_tries=3,
        controls={},
        jobs=jobs,
        digest=uuid.uuid4().hex,
    )
