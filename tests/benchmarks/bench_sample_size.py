"""The bars of the sample sizes: what 17 real configurations really reach with the n predicted from pilots of 40 runs.

    .venv/bin/python -m tests.benchmarks.bench_sample_size [--pilots 5] [--replays 60] [--only predicted,fits,adaptive]

The 10,200 runs of a configuration are the truth; fresh samples are drawn from them with replacement. What is reached
is the root mean square error of a quantile over 200 fresh samples, in units of the default target, 0.05 x (x_0.9 -
x_0.1) of the truth; the worse of the quantiles 0.1 and 0.9 counts. Prints tables and writes
build/bench_sample_size.json. No times are measured.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from analysis import mixture, sample_size
from analysis.arrays import Array
from analysis.mixture.many import each
from analysis.mixture.selection import best_fit
from orchestrator.contracts.tables import read_table

PILOT, FIXED, SAMPLES = 40, 150, 200
BAR, SHARE_BAR = 1.25, 0.8
TARGET = sample_size.Target()
# An adaptive sample is fitted again, so that it needs no reserve for what the pilot leaves open.
GROWING = sample_size.Target(estimator="sample")
SIZES = np.unique(np.rint(30 * 1.06 ** np.arange(78)).astype(int))


@dataclass(frozen=True, kw_only=True)
class Truth:
    """One configuration: all its runs, the quantiles, and the target in kB/s."""

    name: str
    runs: Array

    @property
    def quantiles(self) -> Array:
        return np.quantile(self.runs, TARGET.quantiles)

    @property
    def allowed(self) -> float:
        return TARGET.share * float(np.diff(np.quantile(self.runs, (0.1, 0.9)))[0])

    def reached(self, estimates: Array) -> float:
        """Root mean square error of estimates, (quantiles, samples), in targets; of the worse quantile."""
        error = estimates - self.quantiles[:, None]
        return float(np.max(np.sqrt(np.mean(error**2, axis=1)))) / self.allowed

    def by_samples(self, n: int, samples: int, rng: np.random.Generator) -> float:
        """What the quantiles of fresh samples of n reach."""
        return self.reached(np.quantile(rng.choice(self.runs, (samples, n)), TARGET.quantiles, axis=1))

    def by_fits(self, n: int, samples: int, rng: np.random.Generator) -> float:
        """What the quantiles of mixtures reach that are selected for fresh samples of n."""
        fits = [best_fit(rng.choice(self.runs, n)) for _ in range(samples)]
        return self.reached(np.array([[fit.quantile(q) for fit in fits] for q in TARGET.quantiles]))


def truths(data: Path) -> list[Truth]:
    table = read_table(data / "iozone" / "readers_17cfg_x10200.csv.gz")
    return [Truth(name=" ".join(sample.labels), runs=np.array(sample.values)) for sample in table.samples]


def predicted(truth: Truth, *, pilots: int, place: int) -> dict[str, Any]:
    """For each pilot the n of every method, and what samples of that n reach."""
    whole = np.random.default_rng([place, 1])
    of_all = sample_size.confirm(truth.runs, rng=whole, max_n=10 * TARGET.max_n)
    methods: dict[str, list[int]] = {}
    for seed in range(pilots):
        rng = np.random.default_rng([place, seed])
        pilot = rng.choice(truth.runs, PILOT, replace=False)
        chosen, centre = sample_size.choose(pilot, mixture.Options()), sample_size.centre_of_sample(pilot)
        need = sample_size.need(chosen, TARGET, centre, pilot)
        by_fit = sample_size.need(chosen, sample_size.Target(estimator="fit"), centre, pilot)
        by_sample = sample_size.need(chosen, sample_size.Target(estimator="sample"), centre, pilot)
        found = {
            "n (default)": need.n,
            "--quantile-from sample": by_sample.n,
            "--quantile-from fit": by_fit.n,
            "CONFIRM, 1 %, from the pilot": sample_size.confirm(pilot, rng=rng) or PILOT,
            "CONFIRM, 1 %, from all 10,200": of_all or 10 * TARGET.max_n,
            f"fixed {FIXED}": FIXED,
        }
        for name, n in found.items():
            methods.setdefault(name, []).append(n)
    rng = np.random.default_rng([place, 2])
    return {
        "name": truth.name,
        "ideal": ideal(truth, rng),
        "methods": {
            name: {"n": sizes, "reached": [truth.by_samples(n, SAMPLES, rng) for n in sizes]}
            for name, sizes in methods.items()
        },
    }


def ideal(truth: Truth, rng: np.random.Generator) -> int | None:
    """The smallest of `SIZES` whose samples reach the target."""
    return next((int(n) for n in SIZES if truth.by_samples(int(n), 400, rng) <= 1), None)


def by_fits(truth: Truth, *, samples: int, place: int) -> dict[str, Any]:
    """What the quantiles of fits reach, with the n that the first pilot predicts."""
    pilot = np.random.default_rng([place, 0]).choice(truth.runs, PILOT, replace=False)
    chosen, centre = sample_size.choose(pilot, mixture.Options()), sample_size.centre_of_sample(pilot)
    rng = np.random.default_rng([place, 3])
    sizes = {
        "n (default)": sample_size.need(chosen, TARGET, centre, pilot).n,
        "--quantile-from fit": sample_size.need(chosen, sample_size.Target(estimator="fit"), centre, pilot).n,
    }
    return {name: {"n": n, "reached": truth.by_fits(n, samples, rng)} for name, n in sizes.items()}


def adaptive(truth: Truth, *, replays: int, place: int) -> dict[str, Any]:
    """Samples that grow from a pilot: how many runs they end with, and what their own quantiles reach."""
    rng = np.random.default_rng([place, 4])
    ends, fits = [], []
    for _ in range(replays):
        runs = rng.permutation(truth.runs)
        steps = list(sample_size.grow(lambda n, runs=runs: runs[:n], GROWING, pilot=PILOT))
        ends.append(runs[: steps[-1].n])
        fits.append(len(steps))
    estimates = np.array([np.quantile(runs, TARGET.quantiles) for runs in ends]).T
    fixed = [truth.by_samples(int(n), 1000, rng) for n in SIZES]
    return {
        "runs": [len(runs) for runs in ends],
        "fits": float(np.mean(fits)),
        "reached": truth.reached(estimates),
        "fixed": fixed,
    }


def tell_predicted(rows: Sequence[dict[str, Any]], console: Console) -> None:
    """A row for each method over all configurations and pilots, then a row for each configuration."""
    table = Table("method", "n: mean", "median", "reached: median", "worst", f"<= {BAR} x target", title="predicted n")
    for name in rows[0]["methods"]:
        n = np.concatenate([row["methods"][name]["n"] for row in rows])
        reached = np.concatenate([row["methods"][name]["reached"] for row in rows])
        cells = (f"{np.mean(n):.0f}", f"{np.median(n):.0f}", f"{np.median(reached):.2f}", f"{np.max(reached):.2f}")
        table.add_row(name, *cells, f"{100 * np.mean(reached <= BAR):.0f} %")
    console.print(table)
    table = Table("configuration", "ideal n", "n: median", "smallest", "largest", "reached: median", "met")
    for row in rows:
        found = row["methods"]["n (default)"]
        met = f"{sum(one <= BAR for one in found['reached'])} of {len(found['n'])}"
        n = (f"{np.median(found['n']):.0f}", str(min(found["n"])), str(max(found["n"])))
        table.add_row(row["name"], str(row["ideal"] or "> 2,600"), *n, f"{np.median(found['reached']):.2f}", met)
    console.print(table)


def tell_fits(rows: Sequence[dict[str, Any]], console: Console) -> None:
    """What the fit's quantile reaches, with either n."""
    table = Table("n by", "n: mean", "reached: median", "worst", f"<= {BAR} x target", title="the fit's quantile")
    for name in rows[0]:
        n, reached = (np.array([row[name][key] for row in rows]) for key in ("n", "reached"))
        share = f"{100 * np.mean(reached <= BAR):.0f} %"
        table.add_row(name, f"{np.mean(n):.0f}", f"{np.median(reached):.2f}", f"{np.max(reached):.2f}", share)
    console.print(table)


def tell_adaptive(rows: Sequence[dict[str, Any]], console: Console) -> None:
    """Runs of the adaptive samples against the smallest fixed n that reaches as much, by several summaries."""
    runs = float(np.mean([np.mean(row["runs"]) for row in rows]))
    reached = np.array([row["reached"] for row in rows])
    fixed = np.array([row["fixed"] for row in rows])  # (configurations, sizes)
    title = f"adaptive: {runs:.0f} runs a configuration, {np.mean([row['fits'] for row in rows]):.1f} fits"
    table = Table("precision reached", "adaptive", "best fixed n that reaches it", "adaptive runs of it", title=title)
    at_150 = np.array([np.interp(FIXED, SIZES, row) for row in fixed])
    for name, summary in SUMMARIES.items():
        wanted = summary(reached)
        enough = [int(n) for n, column in zip(SIZES, fixed.T, strict=True) if summary(column) <= wanted]
        best = f"{enough[0]}" if enough else f"> {SIZES[-1]}"
        table.add_row(name, f"{wanted:.2f}", best, f"{100 * runs / (enough[0] if enough else SIZES[-1]):.0f} %")
    console.print(table)
    console.print(
        f"fixed {FIXED}: worst configuration {np.max(at_150):.2f}, within {BAR}: {np.mean(at_150 <= BAR):.0%}; "
        f"adaptive: worst {np.max(reached):.2f}, within {BAR}: {np.mean(reached <= BAR):.0%}; "
        f"runs {runs / FIXED:.0%} of the fixed ones"
    )


SUMMARIES: dict[str, Callable[[Array], float]] = {
    "of every configuration (the worst)": lambda reached: float(np.max(reached)),
    "of all but the worst": lambda reached: float(np.sort(reached)[-2]),
    "of nine in ten": lambda reached: float(np.quantile(reached, 0.9)),
    "root mean square": lambda reached: float(np.sqrt(np.mean(reached**2))),
}
TELL = {"predicted": tell_predicted, "fits": tell_fits, "adaptive": tell_adaptive}


def _measured(task: Callable[..., dict[str, Any]], found: Iterable[tuple[int, Truth]], processes: int) -> list[Any]:
    placed = list(found)
    return list(track(each(partial(_one, task=task), placed, processes, chunk=1), total=len(placed), transient=True))


def _one(placed: tuple[int, Truth], *, task: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    return task(placed[1], place=placed[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pilots", type=int, default=5)
    parser.add_argument("--replays", type=int, default=60)
    parser.add_argument("--fits", type=int, default=60, help="fresh samples that are fitted")
    parser.add_argument("--only", default="predicted,fits,adaptive")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    chosen = parser.parse_args()
    tasks: dict[str, Callable[..., dict[str, Any]]] = {
        "predicted": partial(predicted, pilots=chosen.pilots),
        "fits": partial(by_fits, samples=chosen.fits),
        "adaptive": partial(adaptive, replays=chosen.replays),
    }
    console = Console(width=120)
    out = Path("build/bench_sample_size.json")
    out.parent.mkdir(exist_ok=True)
    results = json.loads(out.read_text()) if out.exists() else {}
    for name in chosen.only.split(","):
        results[name] = _measured(tasks[name], enumerate(truths(chosen.data)), chosen.processes)
        out.write_text(json.dumps(results))
        TELL[name](results[name], console)


if __name__ == "__main__":
    main()
