"""What measuring under an agent costs and changes, against a bare loop; about two minutes.

    make bench-node

Prints, for `builtin` at about 20 ms a run and for IOzone, jobs under the agent and bare loops taking turns: what
the agent adds to a run, and whether throughputs differ (two-sample tests, corrected over all modes); then, with real
PostgreSQL, Redis and Celery, how often the agent wakes up and speaks to the network while a run is on.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import tempfile
import time
import uuid
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from scipy.stats import ks_2samp, mannwhitneyu

from orchestrator.client import Client
from orchestrator.contracts.campaigns import Submission
from orchestrator.contracts.designs import Design, Setting
from orchestrator.contracts.jobs import PlannedJob
from orchestrator.contracts.nodes import Hello
from orchestrator.contracts.preparation import Preparation
from orchestrator.contracts.runs import Run
from orchestrator.embedded.home import discard
from orchestrator.embedded.service import Service
from orchestrator.store.memory import MemoryStore
from workers import execute
from workers.benchmarks import engines
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
RUNS_A_TURN = 10
LONG_RUN = """
name: one long run
design:
  blocks:
    - {levels: {threads: [1], file_size_kb: [64], record_size_kb: [64]}}
replicates: 1
engine: iozone
"""
"""IOzone's own pauses make it last 20 s with nothing to do: whoever wakes up meanwhile is us."""
WATCHED_S = 10.0


@dataclass(kw_only=True)
class Way:
    """Runs made one way: under the agent, or in a bare loop."""

    wall_s: float = 0.0
    benchmark_s: float = 0.0
    runs: int = 0
    values: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, elapsed_s: float, values: tuple[float, ...]) -> None:
        self.benchmark_s += elapsed_s
        self.runs += 1
        for mode, value in zip(MODES, values, strict=True):
            self.values[mode].append(value)


def take_turns(engine: str, options: Mapping[str, object], levels: tuple[int, ...], turns: int) -> tuple[Way, Way]:
    """Jobs of ten runs under the agent, and ten runs in a loop, one after the other."""
    folder = Path(tempfile.mkdtemp(prefix="ms-", dir="/var/tmp"))
    (folder / "target").mkdir()
    stop = Stop()
    runner = Runner(Journal(folder), stop)
    inventory = Inventory(targets={"default": folder / "target"}, reserve_kb=0)
    bench = Bench(node="bench", runner=runner, inventory=inventory, state=folder)
    agent, bare = Way(), Way()
    for _ in range(turns):
        under_the_agent(agent, engine, options, levels, bench)
        in_a_loop(bare, engine, options, levels, bench)
    stop.close()
    shutil.rmtree(folder)
    return agent, bare


def under_the_agent(
    way: Way, engine: str, options: Mapping[str, object], levels: tuple[int, ...], bench: Bench
) -> None:
    """One job: claim, prepare, runs into a spool on the disk, upload, give back. The ledger is in memory."""
    store = MemoryStore()
    session = uuid.uuid4()
    store.nodes.hello(Hello(node="bench", session=session, boot_id="b", version="1", engines={engine: "1"}))
    store.campaigns.submit(submission(engine, options, levels))
    (offer,) = store.control.dispatch()
    spool = Spool(bench.state, store.ledger)
    kept: list[Run] = []
    homecoming = Homecoming(store, spool, bench.state / "refused")
    keep = homecoming.keep

    def remember(run: Run) -> None:
        kept.append(run)
        keep(run)

    homecoming.keep = remember  # type: ignore[method-assign]  # to see the runs before they leave the spool
    workplace = execute.Workplace(store=store, session=session, bench=bench, homecoming=homecoming, shared=True)
    begin = time.perf_counter()
    execute.execute(offer.job_id, workplace)
    way.wall_s += time.perf_counter() - begin
    spool.close()
    for run in kept:
        if run.values:
            way.add(run.elapsed_s, run.values)


def in_a_loop(way: Way, engine: str, options: Mapping[str, object], levels: tuple[int, ...], bench: Bench) -> None:
    """The same invocations with nothing around them."""
    bare = engines.engine(engine, options, bench)
    task = Task(setting=dict(zip(FACTORS, levels, strict=True)), modes=MODES)
    bare.prepare(task)
    begin = time.perf_counter()
    outcomes = [bare.run(task, replicate) for replicate in range(RUNS_A_TURN)]
    way.wall_s += time.perf_counter() - begin
    for outcome in outcomes:
        assert isinstance(outcome, Succeeded), outcome
        way.add(outcome.elapsed_s, outcome.values)


def submission(engine: str, options: Mapping[str, object], levels: tuple[int, ...]) -> Submission:
    job = PlannedJob(setting=0, block=0, position=0, first_replicate=0, replicates=RUNS_A_TURN)
    return Submission(
        name="bench",
        study={"name": "bench", "replicates": RUNS_A_TURN},
        design=Design(factors=FACTORS, settings=(Setting(ordinal=0, levels=levels, modes=MODES),)),
        replicates=RUNS_A_TURN,
        engine=engine,
        engine_options=options,
        node_options=Preparation().as_dict(),
        analysis_options={"min_n": 1},
        placement="any",
        max_tries=3,
        controls={},
        jobs=[job],
        digest="bench",
    )


def report(engine: str, agent: Way, bare: Way) -> None:
    """Ratios and tests; p values times the number of modes (Bonferroni)."""
    run_ms, loop_ms = (1000 * way.wall_s / way.runs for way in (agent, bare))
    print(f"{engine}: {agent.runs} runs under the agent, {bare.runs} in a bare loop, by turns")
    print(f"  time in benchmark / time of the job    {agent.benchmark_s / agent.wall_s:7.4f}")
    print(f"  the same in the bare loop              {bare.benchmark_s / bare.wall_s:7.4f}")
    outside_ms = [1000 * (way.wall_s - way.benchmark_s) / way.runs for way in (agent, bare)]
    print(f"  a run takes                            {run_ms:7.2f} ms, in the loop {loop_ms:.2f} ms")
    print(f"  orchestration a run                    {outside_ms[0]:7.2f} ms, in the loop {outside_ms[1]:.2f} ms")
    added_ms = outside_ms[0] - outside_ms[1]
    print(f"  the agent adds to a run                {added_ms:7.2f} ms, {100 * added_ms / loop_ms:.1f} % of it")
    for mode in MODES:
        one, other = agent.values[mode], bare.values[mode]
        ks = min(1.0, len(MODES) * ks_2samp(one, other).pvalue)
        mw = min(1.0, len(MODES) * mannwhitneyu(one, other).pvalue)
        ratio = statistics.median(one) / statistics.median(other)
        print(f"  {mode:16s} median ratio {ratio:6.3f}   KS p {ks:5.3f}   Mann-Whitney p {mw:5.3f}")


def switches(pid: int) -> int:
    """Context switches of all threads of a process."""
    found = 0
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        lines = status.read_text().splitlines()
        found += sum(int(line.split()[1]) for line in lines if "ctxt_switches" in line)
    return found


def running(home: Path) -> bool:
    return any(home.glob("nodes/*/running.json"))


def observed() -> tuple[float, int | None]:
    """The agent of a real service while one IOzone run is on: context switches a second, network system calls."""
    home = Path(tempfile.mkdtemp(prefix="ms-", dir="/var/tmp"))
    with Service(home) as service, Client(service.address, service.token) as client:
        client.submit(LONG_RUN)
        while not running(home):
            time.sleep(0.05)
        time.sleep(1.0)  # the run has begun for good
        agent = service.pids["agent-local-1"]
        before, begin = switches(agent), time.perf_counter()
        time.sleep(WATCHED_S / 2)
        per_s = (switches(agent) - before) / (time.perf_counter() - begin)
        calls = network_calls(agent)
        assert running(home), "the run ended before the watch"
    discard(home)
    return per_s, calls


def report_observed(per_s: float, calls: int | None) -> None:
    print("the agent while a run is on (real PostgreSQL, Redis, Celery)")
    print(f"  context switches a second              {per_s:7.2f}")
    print(f"  network system calls in {WATCHED_S / 2:.0f} s           {'no strace' if calls is None else calls:>7}")


def network_calls(pid: int) -> int | None:
    """Those that ended within half of the watch, counted by strace; None where it is not installed."""
    if shutil.which("strace") is None:
        return None
    argv = ["timeout", "-s", "INT", str(WATCHED_S / 2), "strace", "-f", "-qq", "-e", "trace=network", "-p", str(pid)]
    told = subprocess.run(argv, capture_output=True, text=True, check=False)
    return sum(" = " in line for line in told.stderr.splitlines())


def main() -> None:
    report("builtin", *take_turns("builtin", {}, (2, 2048, 64), turns=20))
    if shutil.which("iozone") is not None:
        report("iozone", *take_turns("iozone", {"settle_s": 0.0}, (2, 65536, 64), turns=4))
        report_observed(*observed())


if __name__ == "__main__":
    main()
