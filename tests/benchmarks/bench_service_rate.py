"""The bars of service rates and of the time left; simulated and real queues, replayed campaigns.

    make bench-service-rate [ARGS="--quick --only simulated,dual,real,overhead,trace,campaigns,pipeline --seed 2026"]

Prints a table and writes build/bench_service_rate.json. Constants of the estimators were chosen on other seeds (1, 77,
1000 to 1100).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from analysis.arrays import Array
from analysis.service_rate import Estimate, Outcome, PhaseChange, Trace, outcomes
from tests.benchmarks import real_pipeline, real_queue, replayed_campaigns, simulated_queue

PROCESSES = 2
CHUNK = 50
CONSTANT_ITEMS, DUAL_ITEMS = 8_000, 20_000
FOUND_WITHIN = 0.1


@dataclass(frozen=True, kw_only=True)
class Line:
    """One bar: what was measured, what it should be, what came out."""

    what: str
    bar: str
    measured: str
    met: bool | None


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How much is measured, and from which seed."""

    quick: bool
    seed: int

    def count(self, full: int, quick: int) -> int:
        return quick if self.quick else full


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What came of one run: the basis, utilisation, relative errors (nan: no estimate), phases found."""

    basis: str
    utilisation: float
    error: float
    error_published: float
    changes: int
    found: int


def of_chunk(task: tuple[int, int, int, bool]) -> list[Seen]:
    """Simulate and observe some runs; one seed a chunk."""
    seed, chunk, count, dual = task
    rng = np.random.default_rng([seed, chunk, int(dual)])
    settings = simulated_queue.draw(count, rng, dual=dual)
    items = DUAL_ITEMS if dual else CONSTANT_ITEMS
    seen = []
    for r, run in enumerate(simulated_queue.simulate(settings, items, rng)):
        basis, told = simulated_queue.observe(run, rng)
        rates = [one.rate for one in told if isinstance(one, Estimate)]
        published = [one.rate_published for one in told if isinstance(one, Estimate) and one.rate_published is not None]
        nominal = (settings.rate[r], settings.rate_after[r])
        seen.append(
            Seen(
                basis=basis,
                utilisation=float(settings.utilisation[r]),
                error=float(np.median(rates) / nominal[0] - 1) if rates else float("nan"),
                error_published=float(np.median(published) / nominal[0] - 1) if published else float("nan"),
                changes=sum(isinstance(one, PhaseChange) for one in told),
                found=phases_found(told, run.change_s, nominal),
            )
        )
    return seen


def phases_found(told: Sequence[Outcome], change_s: float, nominal: tuple[float, float]) -> int:
    """How many of the two phases have a median estimate within a tenth; told changes split them."""
    told_change = [one.began_s for one in told if isinstance(one, PhaseChange)]
    border = min(told_change, key=lambda at: abs(at - change_s)) if told_change else None
    estimates = [one for one in told if isinstance(one, Estimate)]
    if border is None:
        # Nobody said that there were two: all estimates are one phase, right for one of them at most.
        return int(bool(estimates) and min(abs(np.median([e.rate for e in estimates]) / n - 1) for n in nominal) <= 0.1)
    sides = ([e.rate for e in estimates if e.time_s <= border], [e.rate for e in estimates if e.time_s > border])
    return sum(
        len(rates) > 0 and abs(float(np.median(rates)) / rate - 1) <= FOUND_WITHIN
        for rates, rate in zip(sides, nominal, strict=True)
    )


def simulated_runs(setting: Setting, count: int, *, dual: bool) -> list[Seen]:
    tasks = [(setting.seed, chunk, min(CHUNK, count), dual) for chunk in range(-(-count // CHUNK))]
    with ProcessPoolExecutor(PROCESSES) as pool:
        return [seen for chunk in pool.map(of_chunk, tasks) for seen in chunk]


def simulated(setting: Setting) -> Iterator[Line]:
    seen = simulated_runs(setting, setting.count(1800, 100), dual=False)
    yield from errors_of("simulated", np.array([one.error for one in seen]))
    for basis in sorted({one.basis for one in seen}):
        chosen = np.array([one.error for one in seen if one.basis == basis])
        yield Line(
            what=f"  of these from {basis}: runs, median size of the error", bar="", measured=told(chosen), met=None
        )
    published = np.array([one.error_published for one in seen if np.isfinite(one.error_published)])
    yield Line(what="  rate_published: runs, median size of the error", bar="", measured=told(published), met=None)
    phantom = float(np.mean([one.changes > 0 for one in seen]))
    yield Line(what="phantom phases in constant runs", bar="<= 2 %", measured=f"{phantom:.2%}", met=phantom <= 0.02)


def errors_of(name: str, error: Array) -> Iterator[Line]:
    within = float(np.mean(np.abs(error) <= 0.2))  # no estimate is not within
    median = float(np.median(np.abs(np.nan_to_num(error, nan=1.0))))
    yield Line(
        what=f"{name}: within 20 % of nominal, {len(error)} runs",
        bar=">= 95 %",
        measured=f"{within:.2%}",
        met=within >= 0.95,
    )
    yield Line(what=f"{name}: median size of the error", bar="<= 5 %", measured=f"{median:.2%}", met=median <= 0.05)


def told(error: Array) -> str:
    return f"{len(error)}, {float(np.nanmedian(np.abs(error))):.2%}" if len(error) else "0"


def dual(setting: Setting) -> Iterator[Line]:
    seen = simulated_runs(setting, setting.count(600, 100), dual=True)
    for name, bar, chosen in (
        (">= 0.5", 0.9, [one for one in seen if one.utilisation >= 0.5]),
        ("< 0.5", 0.6, [one for one in seen if one.utilisation < 0.5]),
    ):
        both = float(np.mean([one.found == 2 for one in chosen]))
        neither = float(np.mean([one.found == 0 for one in chosen]))
        where = f"dual phase, rho {name}, {len(chosen)} runs"
        yield Line(what=f"{where}: both found", bar=f">= {bar:.0%}", measured=f"{both:.1%}", met=both >= bar)
        yield Line(what=f"{where}: neither found", bar="0 %", measured=f"{neither:.1%}", met=neither == 0)


def real(setting: Setting) -> Iterator[Line]:
    rng = np.random.default_rng(setting.seed)
    error = []
    for k in range(setting.count(54, 6)):
        rate = float(np.exp(rng.uniform(np.log(100), np.log(1000))))  # 0.8 to 8 MB/s of 8 kB
        utilisation = (0.3, 0.6, 0.95)[k % 3]
        run = real_queue.RealRun(
            rate=rate, utilisation=utilisation, deterministic=k % 2 == 0, items=int(300 / utilisation), seed=k
        )
        rates = [one.rate for one in real_queue.observed(run) if isinstance(one, Estimate)]
        error.append(float(np.median(rates)) / rate - 1 if rates else float("nan"))
    yield from errors_of("real processes", np.array(error))


def overhead(setting: Setting) -> Iterator[Line]:
    """By turns with and without the observer; and the observer's own processor time, which noise does not reach."""
    longer, own = [], []
    for k in range(setting.count(30, 4)):
        order = (False, True) if k % 2 else (True, False)
        by_watched = {watched: real_queue.cost_of_a_pipeline(watched=watched) for watched in order}
        longer.append(by_watched[True][0] / by_watched[False][0] - 1)
        own.append(by_watched[True][1] / by_watched[True][0])
    middle, error = float(np.median(longer)), 1.2533 * float(np.std(longer, ddof=1)) / np.sqrt(len(longer))
    yield Line(
        what="overhead of observing: wall time of the pipeline",
        bar="<= 1 %",
        measured=f"{middle:.2%} +- {error:.2%}",
        met=middle <= 0.01,
    )
    share = float(np.median(own))
    yield Line(
        what="overhead of observing: CPU time of the observer / wall time",
        bar="<= 1 %",
        measured=f"{share:.2%}",
        met=share <= 0.01,
    )


def generated_trace(kind: str, mean: float, rng: np.random.Generator) -> Trace:
    """6,000 periods: 40 % blocked, of the others 10 % partial and not marked, 1 % tripled."""
    n = 6000
    count = rng.poisson(mean, n) if kind == "poisson" else np.rint(np.maximum(rng.normal(mean, 0.02 * mean, n), 0))
    count, blocked, other = count.astype(np.float64), rng.random(n) < 0.4, rng.random(n)
    cut, tripled = blocked | (other < 0.1), ~blocked & (other > 0.99)
    count[cut] = np.floor(count[cut] * rng.random(np.sum(cut)))
    count[tripled] *= 3
    return Trace(time_s=np.arange(1, n + 1) * 0.01, count=count, blocked=blocked)


def trace(setting: Setting) -> Iterator[Line]:
    for kind, mean in (
        ("poisson", 1),
        ("poisson", 4),
        ("poisson", 40),
        ("poisson", 2000),
        ("clockwork", 8),
        ("clockwork", 500),
    ):
        rows, good, inside = [], 0, 0
        seeds = setting.count(20, 4)
        for seed in range(seeds):
            made = generated_trace(kind, mean, np.random.default_rng([setting.seed, seed]))
            found = [one for one in outcomes(made) if isinstance(one, Estimate)]
            rows.append(len(found))
            if found:
                good += abs(np.median([one.rate for one in found]) * 0.01 / mean - 1) <= 0.1
                inside += 2 * sum(one.low * 0.01 <= mean <= one.high * 0.01 for one in found) > len(found)
        measured = f"{good}/{seeds} within 10 %, {inside}/{seeds} inside, {np.mean(rows):.1f} rows"
        yield Line(what=f"trace, {kind}, {mean} a period", bar="all", measured=measured, met=good == inside == seeds)


def campaigns(setting: Setting) -> Iterator[Line]:
    inside, error = [], []
    for k in range(setting.count(200, 20)):
        rng = np.random.default_rng([setting.seed, k])
        campaign = replayed_campaigns.replay(rng)
        now_s = float(rng.uniform(0.1, 0.9)) * campaign.ended_s
        told_left = replayed_campaigns.predict(campaign, now_s, rng)
        assert told_left.low_s is not None
        assert told_left.high_s is not None
        inside.append(told_left.low_s <= campaign.ended_s - now_s <= told_left.high_s)
        half_s = campaign.ended_s / 2
        error.append(abs((replayed_campaigns.predict(campaign, half_s, rng).median_s or 0.0) / half_s - 1))
    cover, median = float(np.mean(inside)), float(np.median(error))
    yield Line(
        what=f"time left: 80 % interval holds the truth, {len(inside)} campaigns",
        bar="75 to 90 %",
        measured=f"{cover:.1%}",
        met=0.75 <= cover <= 0.9,
    )
    yield Line(
        what="time left: median size of the error half-way", bar="<= 10 %", measured=f"{median:.1%}", met=median <= 0.1
    )


def pipeline(setting: Setting) -> Iterator[Line]:
    """Spool to ingest: its rate estimated while it is fed, against its rate alone."""
    for k, utilisation in enumerate((0.5, 0.8)):
        rng = np.random.default_rng([setting.seed, k])
        found = real_pipeline.measured(utilisation=utilisation, turns=setting.count(5, 2), rng=rng)
        yield Line(
            what=f"spool to ingest at rho {utilisation}: estimated, alone, runs/s",
            bar="within 20 %",
            measured=f"{found.estimated:,.0f}, {found.alone:,.0f} ({found.error:+.1%})",
            met=abs(found.error) <= 0.2,
        )


PARTS: dict[str, Callable[[Setting], Iterator[Line]]] = {
    "trace": trace,
    "simulated": simulated,
    "dual": dual,
    "real": real,
    "overhead": overhead,
    "campaigns": campaigns,
    "pipeline": pipeline,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few of each")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, comma-separated")
    parser.add_argument("--seed", type=int, default=2026)
    arguments = parser.parse_args()
    chosen = arguments.only.split(",")
    if unknown := [name for name in chosen if name not in PARTS]:
        parser.error(f"no part is called {unknown[0]!r}: choose from {', '.join(PARTS)}")
    setting = Setting(quick=arguments.quick, seed=arguments.seed)
    table = Table("what", "bar", "measured", "met", box=None)
    lines = []
    for name in chosen:
        for line in PARTS[name](setting):
            lines.append(line)
            table.add_row(line.what, line.bar, line.measured, "" if line.met is None else "yes" if line.met else "NO")
    Console(width=120).print(table)
    Path("build").mkdir(exist_ok=True)
    Path("build/bench_service_rate.json").write_text(json.dumps([asdict(line) for line in lines], indent=1))


if __name__ == "__main__":
    main()
