"""/bin/true through the whole system, against HyperQueue in the same run."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from orchestrator.design import study
from orchestrator.design.submission import submission
from orchestrator.store.postgres import PostgresStore
from tests.benchmarks import bed as beds
from tests.benchmarks.bars import Line
from tests.benchmarks.replayed_study import processor_s, until_complete

RUNS = 6000
AGENTS = 2
STUDY = """
name: empty programs
design: {blocks: [{levels: {step: [%s]}, modes: [version]}]}
replicates: 100
replicates_per_job: 100
engine: {name: command, program: "true"}
node: {frequency: as_is, sync: never, bounds: {}}
"""
INVENTORY = r"""
programs:
  "true": {path: /bin/true, arguments: [--version], metrics: {version: {pattern: 'coreutils\) ([\d.]+)', unit: kB/s}}}
"""
"""A run must say a number: GNU's /bin/true says its version. HyperQueue runs the same words."""


def measure(share: float) -> Iterator[Line]:
    """Programs a second, and HyperQueue's."""
    what = f"empty programs a second, {AGENTS} agents / HyperQueue"
    if find_spec("hyperqueue") is None:
        yield Line(what=what, bar="> 1", measured="HyperQueue is not installed (extra `dev`)", met=None)
        return
    runs = max(200, round(RUNS * share / 100) * 100)
    with beds.made() as bed:
        (bed.folder / "inventory.yaml").write_text(INVENTORY)
        store = PostgresStore(bed.database_url, keep=1)
        children = bed.start_agents(store, AGENTS)
        steps = ", ".join(str(step) for step in range(runs // 100))
        planned = submission(study.load(STUDY % steps, where="empty"))
        begin, used = time.perf_counter(), processor_s(bed, children)
        campaign, _ = store.campaigns.submit(planned)
        until_complete(store, campaign.id)
        ours = runs / (time.perf_counter() - begin)
        ended = processor_s(bed, children)
        store.close()
    theirs = _hyperqueue(runs)
    cpu = {f"{part}_cpu_ms_a_run": 1000 * (ended[part] - used[part]) / runs for part in used}
    yield Line(
        what=f"{what}: {ours:.0f} / {theirs:.0f}",
        bar="> 1",
        measured=f"{ours / theirs:.2f}",
        met=ours > theirs,
        figures={"runs": runs, "ours_per_s": ours, "hyperqueue_per_s": theirs, **cpu},
    )


def _hyperqueue(tasks: int) -> float:
    """Tasks a second of its server and two workers with a CPU each, in processes of their own."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        told = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.empty_programs", str(tasks)],
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            check=True, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        )  # fmt: skip
    return float(told.stdout.split()[-1])


def _be_hyperqueue(tasks: int) -> None:
    """Print how many tasks a second it did."""
    from hyperqueue import Job, LocalCluster
    from hyperqueue.cluster import WorkerConfig

    with LocalCluster() as cluster:
        for _ in range(AGENTS):
            cluster.start_worker(WorkerConfig(cores=1))
        client = cluster.client()
        job = Job()
        for _ in range(tasks):
            job.program(["/bin/true", "--version"])
        begin = time.perf_counter()
        client.wait_for_jobs([client.submit(job)])
        print(tasks / (time.perf_counter() - begin))


if __name__ == "__main__":
    _be_hyperqueue(int(sys.argv[1]))
