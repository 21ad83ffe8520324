"""The bars of criticality: generated traces with known truth, real repeated runs, and a trace of the largest size.

    make bench-criticality [ARGS="--quick --only generated,model,real,counters,traces,size --seed 2026"]

The real data are read from ../shared/data (a folder named by MODESCOPE_DATA overrides); a part whose data are not there
is left out. Prints a table and, in the last line, JSON.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import resource
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis import criticality as c
from orchestrator import traces
from orchestrator.cli.criticality.columns import Columns, read
from tests.benchmarks.bars import Line, tell
from tests.benchmarks.generated_trace import generate

DATA = Path(os.environ.get("MODESCOPE_DATA", "/work/shared/data"))
COLLECTIVES = {16: 2000, 256: 400}
BARS = {(16, 0.5): 0.86, (256, 0.5): 0.92, (16, 1.0): 0.95, (256, 1.0): 0.95}
BY_TIME = c.Plan(split="time", share=0.6, folds=0, boosted=False)
ANY_IMBALANCE = c.Rule(bound_s=0.0, evaluated_s=0.0)
SETTING = ("freq", "fsize", "rsize", "threads", "test")
LARGEST = (13_824, 1_000)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How much is measured, and from which seed."""

    quick: bool
    seed: int


def generated(setting: Setting) -> Iterator[Line]:
    seeds = 3 if setting.quick else 10
    for ranks, collectives in COLLECTIVES.items():
        for snr in (0.0, 0.25, 0.5, 1.0):
            aucs, tops = [], 0
            for k in range(seeds):
                made = generate(
                    ranks=ranks, collectives=collectives, snr=snr, rng=np.random.default_rng([setting.seed, k])
                )
                found = c.evaluate(made.trace, c.prepare(made.trace, made.samples, c.Rule()), c.Options(), BY_TIME)
                assert found.held_back.auc is not None
                aucs.append(found.held_back.auc.value)
                tops += {one.name for one in found.gains[:3]} == {"c0", "c1", "c2"}
            yield auc_line(f"generated, R = {ranks}, snr {snr:g}", aucs, snr, BARS.get((ranks, snr)))
            if snr >= 0.5:
                share = tops / seeds
                yield Line(
                    what="  the three informative counters on top",
                    bar=">= 95 % of seeds",
                    measured=f"{share:.0%} of {seeds}",
                    met=share >= 0.95,
                )
        own = c.prepare(made.trace, made.own_time, c.Rule())
        told = c.evaluate(made.trace, own, c.Options(), BY_TIME).held_back
        assert told.auc is not None
        yield Line(what=f"  one's own true time, R = {ranks}: AUC", bar="", measured=f"{told.auc.value:.3f}", met=None)


def auc_line(what: str, aucs: list[float], snr: float, bar: float | None) -> Line:
    middle = float(np.mean(aucs))
    measured = f"{middle:.3f} ({min(aucs):.3f} to {max(aucs):.3f})"
    if snr == 0:
        return Line(what=f"{what}: AUC", bar=".45 to .55", measured=measured, met=0.45 <= middle <= 0.55)
    wanted = "" if bar is None else f">= {bar:g}"
    return Line(what=f"{what}: AUC", bar=wanted, measured=measured, met=None if bar is None else middle >= bar)


def model(setting: Setting) -> Iterator[Line]:
    made = generate(ranks=16, collectives=400, snr=1.0, rng=np.random.default_rng(setting.seed))
    examples = c.prepare(made.trace, made.samples, c.Rule())
    trained = c.train(examples, np.ones(len(examples.x), dtype=bool), c.Options())
    exported = c.exported(trained, examples, made.trace.settings, options=c.Options(), window_s=0.005, told={})
    read_back = c.from_json(exported.to_json())
    counters = dict(zip(examples.features, examples.x[0].tolist(), strict=True))
    took_us = min(timeit.repeat(lambda: read_back.chance(counters, "generated"), number=1000, repeat=7)) * 1000
    yield Line(what="a model's answer, 10 counters", bar="<= 50 us", measured=f"{took_us:.1f} us", met=took_us <= 50)
    size = len(exported.to_json())
    yield Line(what="a model as a file", bar="", measured=f"{size:,} bytes", met=None)


def real(_setting: Setting) -> Iterator[Line]:
    file = DATA / "iozone/li-full.csv.gz"
    if not file.is_file():
        return
    columns = Columns(
        collective=("iter",), rank="host", setting=SETTING, throughput="throughput", work=("threads", "fsize")
    )
    trace, _ = read(file, columns, with_counters=False)
    sets = c.of_sets(trace, c.critical(trace, ANY_IMBALANCE), c.reaches(trace.imbalance_s, 0.0))
    yield Line(
        what="li-full: (configuration, host) sometimes critical, always",
        bar="98 %, none",
        measured=f"{sets.sometimes / sets.ranks:.1%}, {sets.always}",
        met=round(sets.sometimes / sets.ranks, 2) == 0.98 and sets.always == 0,
    )
    options = c.Options(rule=ANY_IMBALANCE)
    history = c.evaluate(trace, c.prepare(trace, None, ANY_IMBALANCE, with_history=True), options, BY_TIME)
    assert history.held_back.auc is not None
    auc = history.held_back.auc.value
    yield Line(
        what="li-full, later iterations, from earlier rounds only: AUC",
        bar="> .730 (aim .77)",
        measured=f"{auc:.3f}",
        met=auc > 0.730,
    )
    for name, one in history.other_models.items():
        yield Line(what=f"  {name}", bar="", measured="none" if one is None else f"{one.value:.3f}", met=None)
    own = c.prepare(trace, None, ANY_IMBALANCE, with_history=True, with_own_time=True)
    told = c.evaluate(trace, own, options, BY_TIME).held_back.auc
    assert told is not None
    yield Line(
        what="li-full, and the host's own time at its end: AUC",
        bar="> .730 (aim .77)",
        measured=f"{told.value:.3f}",
        met=told.value > 0.730,
    )


def counters(setting: Setting) -> Iterator[Line]:
    files = sorted((DATA / "perf_counters").glob("*.csv.gz"))
    if not files:
        return
    with tempfile.TemporaryDirectory() as folder:
        together = Path(folder) / "all.csv"
        _join(files, together)
        columns = Columns(
            rank="iter", consecutive=6, setting=("data", *SETTING), throughput="throughput", work=("threads", "fsize")
        )
        trace, samples = read(together, columns, with_counters=True)
    plan = c.Plan(split="setting", boosted=False)
    for name, standard, drift, bar in (
        ("standardised by all", "all", 0, None),
        ("by the configuration's own runs", "setting", 0, None),
        ("by its own runs, less drift", "setting", 11, 0.63),
    ):
        examples = c.prepare(trace, samples, c.Rule(), drift=drift)
        options = c.Options(standard=standard, seed=setting.seed)  # type: ignore[arg-type]
        found = c.evaluate(trace, examples, options, plan).folded
        assert found is not None
        chance = " (no better than chance)" if found.is_chance else ""
        yield Line(
            what=f"perf counters, unseen configurations, {name}: AUC",
            bar="" if bar is None else f">= {bar:g} (aim .70)",
            measured=f"{found.value:.3f} +- {found.error:.3f}{chance}",
            met=None if bar is None else found.value >= bar,
        )


def _join(files: list[Path], path: Path) -> None:
    """All variants in one table; which one a row is of becomes a column."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        for number, one in enumerate(files):
            with gzip.open(one, "rt", newline="") as stream:
                rows = csv.reader(stream)
                header = next(rows)
                if number == 0:
                    writer.writerow(["data", *header[1:]])
                writer.writerows([one.name.partition(".")[0], *row[1:]] for row in rows)


def imported(_setting: Setting) -> Iterator[Line]:
    folder = DATA / "mpi_traces"
    if not folder.is_dir():
        return
    for name, shape in (
        ("sst-dumpi/testtrace.meta", (2, 4)),
        ("sst-macro/test_traces/testbgp.meta", (10, 7)),
        ("sst-macro/otf2_test_traces/traces.otf2", (120, 10)),
    ):
        trace = traces.read(folder / name).trace
        largest_ms = 1000 * float(trace.imbalance_s.max())
        yield Line(
            what=f"{name}: collectives x ranks; largest imbalance",
            bar=f"{shape[0]} x {shape[1]}, < 10 ms",
            measured=f"{trace.arrival_s.shape[0]} x {trace.arrival_s.shape[1]}, {largest_ms:.2f} ms",
            met=trace.arrival_s.shape == shape and largest_ms < 10,
        )


def size(setting: Setting) -> Iterator[Line]:
    """The command itself, on a table of the largest size, in a process of its own."""
    ranks, collectives = LARGEST if not setting.quick else (LARGEST[0], 100)
    rng = np.random.default_rng(setting.seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.csv"
        with path.open("w") as file:
            file.write("collective,rank,arrival_s\n")
            for k in range(collectives):
                arrivals = 0.2 * k + 0.1 + 0.01 * rng.random(ranks)
                file.write("".join(f"{k},{rank},{at:.6f}\n" for rank, at in enumerate(arrivals.tolist())))
        program = "from orchestrator.cli.main import main; main()"
        command = [sys.executable, "-c", program, "criticality", "inconsistency", str(path), "--json"]
        began = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        took_s = time.monotonic() - began
    memory_gb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
    yield Line(
        what=f"{ranks:,} ranks x {collectives:,} collectives: seconds, memory",
        bar="<= 60 s, <= 2 GB",
        measured=f"{took_s:.1f} s, {memory_gb:.2f} GB",
        met=took_s <= 60 and memory_gb <= 2,
    )


PARTS: dict[str, Callable[[Setting], Iterator[Line]]] = {
    "generated": generated,
    "model": model,
    "real": real,
    "counters": counters,
    "traces": imported,
    "size": size,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer seeds, a tenth of the largest trace")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, comma-separated")
    parser.add_argument("--seed", type=int, default=2026)
    arguments = parser.parse_args()
    chosen = arguments.only.split(",")
    if unknown := [name for name in chosen if name not in PARTS]:
        parser.error(f"no part is called {unknown[0]!r}: choose from {', '.join(PARTS)}")
    setting = Setting(quick=arguments.quick, seed=arguments.seed)
    tell("criticality", [line for name in chosen for line in PARTS[name](setting)])


if __name__ == "__main__":
    main()
