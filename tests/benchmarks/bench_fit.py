"""The bars of the mixture engine: speed, quality of the optima, false positives, memory; beside peers.

    .venv/bin/python -m tests.benchmarks.bench_fit [--quick] [--only speed,optima,...] [--data ../shared/data]

Prints a table and writes build/bench_fit.json. Everything runs on one core except the study. scikit-learn is a peer
where it imports. Times are CPU times of this process, so that a busy machine changes them little.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from analysis import mixture, modality
from analysis.arrays import Array
from analysis.mixture.families import FAMILIES, NAMES, Axis
from analysis.mixture.kernels import array_kernels, best_kernels
from analysis.mixture.sample import points_for, read_sample
from analysis.mixture.search import search
from orchestrator.contracts.tables import read_table

OPTIONS = mixture.Options()
STUDY, RUNS = 22_734, 150
NEAR_BIC = 0.1
RANDOM_STARTS = 50
Logliks = dict[tuple[str, int], float]


@dataclass(frozen=True, kw_only=True)
class Line:
    """One bar: what was measured, what it should be, what came out."""

    what: str
    bar: str
    measured: str
    met: bool | None


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How much is measured, and where the data are."""

    quick: bool
    data: Path

    def count(self, full: int, quick: int) -> int:
        return quick if self.quick else full


def simulated(count: int, seed: int) -> list[Array]:
    """Mixtures of all families with 1 to 5 components, separated by anything from nothing to plenty."""
    rng = np.random.default_rng(seed)
    samples = []
    for _ in range(count):
        name, k = NAMES[rng.integers(len(NAMES))], int(rng.integers(1, 6))
        place = 1e6 * (1 + np.cumsum(rng.uniform(0.1, 0.6, k)))
        component = rng.choice(k, RUNS, p=rng.dirichlet(np.full(k, 3.0)))
        location, scale = _parameters(name, place, rng.uniform(0.02, 0.15, k))
        samples.append(FAMILIES[name].quantile(rng.random(RUNS), location[component], scale[component]))
    return samples


def real(data: Path, count: int) -> list[Array]:
    """IOzone samples: 17 configurations cut to 150 runs, then groups of combined-data in random order."""
    folder = data / "iozone"
    cut = [np.array(s.values)[:RUNS] for s in read_table(folder / "readers_17cfg_x10200.csv.gz").samples]
    groups = [np.array(s.values) for s in read_table(folder / "combined-data.csv.gz").samples]
    order = np.random.default_rng(0).permutation(len(groups))
    return (cut + [groups[i] for i in order])[:count]


def _parameters(name: str, place: Array, spread: Array) -> tuple[Array, Array]:
    """Family parameters of components near `place` with about this coefficient of variation."""
    if name == "normal":
        return place, spread * place
    if name == "gamma":
        return spread**-2, place * spread**2
    return np.log(place), spread


def speed(setting: Setting) -> Iterator[Line]:
    """Milliseconds for the 30 models of a sample of 150, and what scikit-learn takes for five of them."""
    samples = simulated(setting.count(200, 30), 1)
    with_numba = find_spec("numba") is not None
    ours = _cpu_ms(mixture.select, samples)
    name = f"30 models, n = 150, ms per configuration ({best_kernels().name})"
    yield Line(what=name, bar="15 (aim 5)", measured=f"{ours:.1f}", met=ours <= 15 if with_numba else None)
    if with_numba:
        arrays = _without_numba(lambda: _cpu_ms(mixture.select, samples[: setting.count(40, 10)]))
        yield Line(what="the same without numba", bar="-", measured=f"{arrays:.0f}", met=None)
    if find_spec("sklearn") is not None:
        peer = _cpu_ms(_sklearn, samples[: setting.count(20, 5)])
        what = "scikit-learn, normal k = 1..5, n_init = 10, ms (times ours)"
        yield Line(what=what, bar="> ours (aim 10 x)", measured=f"{peer:.0f} ({peer / ours:.1f} x)", met=peer > ours)


def _sklearn(x: Array) -> None:
    from sklearn.mixture import GaussianMixture

    for k in range(1, 6):
        GaussianMixture(k, n_init=10, random_state=0).fit(x[:, None])


def _cpu_ms(function: Callable[[Array], object], samples: list[Array]) -> float:
    function(samples[0])
    start = time.process_time()
    for x in samples:
        function(x)
    return 1e3 * (time.process_time() - start) / len(samples)


def _without_numba(function: Callable[[], float]) -> float:
    from analysis.mixture import search as module

    module.best_kernels = lambda: array_kernels  # type: ignore[assignment]
    try:
        return function()
    finally:
        module.best_kernels = best_kernels


def optima(setting: Setting) -> Iterator[Line]:
    """How often our optima are within 0.1 BIC of the best that we or 50 random starts find."""
    kinds = [("simulated", simulated(setting.count(100, 15), 2), 0.99, 0.99)]
    if setting.data.exists():
        kinds.append(("real", real(setting.data, setting.count(100, 20)), 0.98, 0.97))
    for kind, samples, winner_bar, all_bar in kinds:
        search(read_sample(samples[0], OPTIONS), NAMES, 5, OPTIONS.floor)
        counts = Counts()
        for seed, x in enumerate(samples):
            counts.add(x, np.random.default_rng(seed))
        yield from counts.lines(kind, winner_bar, all_bar)


class Counts:
    """Tallies of good optima over samples."""

    def __init__(self) -> None:
        self.winners: list[bool] = []
        self.up_to_best: list[bool] = []
        self.ours: list[bool] = []
        self.theirs: list[bool] = []
        self.time_ours = self.time_theirs = 0.0

    def add(self, x: Array, rng: np.random.Generator) -> None:
        start = time.process_time()
        found = search(read_sample(x, OPTIONS), NAMES, 5, OPTIONS.floor)
        middle = time.process_time()
        random = random_starts(x, rng)
        self.time_ours += middle - start
        self.time_theirs += time.process_time() - middle
        ours = {key: _bic(one.loglik, key[1], len(x)) for key, one in found.items()}
        theirs = {key: _bic(random[key], key[1], len(x)) for key in found}
        best = {key: min(ours[key], theirs[key]) for key in found}
        self.winners.append(min(ours.values()) <= min(best.values()) + NEAR_BIC)
        for name in NAMES:
            sizes = [k for family, k in best if family == name]
            turning = min(sizes, key=lambda k: best[name, k])
            for k in sizes:
                good = ours[name, k] <= best[name, k] + NEAR_BIC
                self.ours.append(good)
                self.theirs.append(theirs[name, k] <= best[name, k] + NEAR_BIC)
                if k <= turning:
                    self.up_to_best.append(good)

    def lines(self, kind: str, winner_bar: float, all_bar: float) -> Iterator[Line]:
        winner, up_to = float(np.mean(self.winners)), float(np.mean(self.up_to_best))
        ours, theirs = float(np.mean(self.ours)), float(np.mean(self.theirs))
        yield _share(f"winner within 0.1 BIC of the best known, {kind}", winner, winner_bar)
        yield _share(f"fits up to the family's best k, the same, {kind}", up_to, all_bar)
        what = f"all 30 fits, the same, {kind}; 50 random starts; their time / ours"
        ratio = self.time_theirs / self.time_ours
        measured = f"{ours:.3f}; {theirs:.3f}; {ratio:.0f}"
        yield Line(what=what, bar="not worse at 1/25 (aim .95)", measured=measured, met=ours >= theirs and ratio >= 25)


def random_starts(x: Array, rng: np.random.Generator) -> Logliks:
    """The best of 50 random starts, each run to convergence, for every model."""
    sample, kernels = read_sample(x, OPTIONS), best_kernels()
    best: Logliks = {}
    for name, family in FAMILIES.items():
        points = points_for(sample, family, OPTIONS.floor)
        y = family.axis.forward(sample.values / sample.unit)
        sd = sample.sd(Axis.IDENTITY if name == "normal" else Axis.LOG)
        for k in range(1, min(5, sample.n_distinct) + 1):
            theta = np.empty((RANDOM_STARTS, 3, k))
            theta[:, 0] = rng.dirichlet(np.full(k, 2.0), RANDOM_STARTS)
            theta[:, 1] = rng.choice(y, (RANDOM_STARTS, k), p=sample.counts / sample.n)
            theta[:, 2] = np.maximum(sd * np.exp(rng.uniform(np.log(0.05), 0, (RANDOM_STARTS, k))), points.floor)
            ends = []
            for row in theta:  # one at a time: together, a later start would end early below an earlier one
                short, _ = kernels.em(family.kernel, points, row[None], 200)
                ends.append(kernels.newton(family.kernel, points, short).loglik[0])
            best[name, k] = float(max(ends))
    return best


def _bic(loglik: float, k: int, n: int) -> float:
    return -2 * loglik + (3 * k - 1) * float(np.log(n))


def _share(what: str, share: float, bar: float) -> Line:
    return Line(what=what, bar=f">= {bar:.2f}", measured=f"{share:.3f}", met=share >= bar)


def printed(setting: Setting) -> Iterator[Line]:
    """Every printed log-likelihood against the one recomputed from the printed parameters."""
    samples = simulated(setting.count(40, 8), 3)
    if setting.data.exists():
        samples += real(setting.data, setting.count(60, 20))
    worst = max(_recomputed(x) for x in samples)
    yield Line(
        what="log-likelihoods recomputed, worst relative error", bar="1e-6", measured=f"{worst:.1e}", met=worst < 1e-6
    )


def _recomputed(x: Array) -> float:
    sample, found = read_sample(x, OPTIONS), mixture.select(x)
    worst = 0.0
    for fit in found.table:
        if sample.cells is None:
            again = float(np.sum(fit.logpdf(x)))
        else:
            lower, upper = sample.cells.lower, sample.cells.upper
            again = float(np.sum(sample.counts * np.log((fit.cdf(upper) - fit.cdf(lower)) / (upper - lower))))
        worst = max(worst, abs(fit.loglik / again - 1))
    return worst


def one_component(setting: Setting) -> Iterator[Line]:
    """False positives on continuous samples of one component."""
    for n in (30, 40, 150, 900, 1000):
        several, multimodal = _false_positives(n, setting.count(40, 5), lambda x: x)
        yield Line(
            what=f"one component, n = {n}: k > 1 / multimodal",
            bar="<= .05 / .01",
            measured=f"{np.mean(several):.3f} / {np.mean(multimodal):.3f} (worst family {np.max(several):.3f})",
            met=bool(np.mean(several) <= 0.05 and np.mean(multimodal) <= 0.01),
        )


def rounded(setting: Setting) -> Iterator[Line]:
    """The same, rounded to few distinct values."""
    for n, count in ((150, 20), (900, 10), (10_200, 4)):
        for levels in (8, 20, 65):
            several, dips = [], []
            for found in _null_selections(n, setting.count(count, 1), lambda x, m=levels: _rounded(x, m)):
                several.append(found.components > 1)
                dips.append(found.dip_p < 0.05)
            yield Line(
                what=f"rounded to {levels} values, n = {n}: k > 1 / dip p < .05",
                bar="<= .05 / .05",
                measured=f"{np.mean(several):.3f} / {np.mean(dips):.3f}",
                met=bool(np.mean(several) <= 0.05 and np.mean(dips) <= 0.05),
            )


def _rounded(x: Array, levels: int) -> Array:
    step = (np.max(x) - np.min(x)) / (levels - 1)
    return np.rint(x / step) * step


def _null_selections(n: int, per_family: int, change: Callable[[Array], Array]) -> Iterator[mixture.Selection]:
    for index, name in enumerate(NAMES):
        location, scale = _parameters(name, np.array(1e6), np.array(0.08))
        for seed in range(per_family):
            rng = np.random.default_rng([index, n, seed])
            yield mixture.select(change(FAMILIES[name].quantile(rng.random(n), location, scale)))


def _false_positives(n: int, per_family: int, change: Callable[[Array], Array]) -> tuple[Array, Array]:
    """Shares by family of samples with k > 1, and judged multimodal."""
    found = list(_null_selections(n, per_family, change))
    q_values = modality.dip_q_values([one.dip_p for one in found])
    kinds = [modality.verdict(one, dip_q=q, options=OPTIONS).kind for one, q in zip(found, q_values, strict=True)]
    several = np.array([one.components > 1 for one in found]).reshape(len(NAMES), -1)
    multimodal = np.array([kind == "multimodal" for kind in kinds]).reshape(len(NAMES), -1)
    return several.mean(axis=1), multimodal.mean(axis=1)


def separation(setting: Setting) -> Iterator[Line]:
    """Right k of normal mixtures by the distance of neighbouring means, beside optima started from the truth."""
    for distance, bar in ((5.0, ">= .95 (aim .99)"), (4.0, "oracle - .02"), (3.0, "oracle - .02")):
        right, oracle = [], []
        for seed in range(setting.count(200, 20)):
            rng = np.random.default_rng([int(distance), seed])
            k = int(rng.integers(2, 4))
            weight = 0.1 + (1 - 0.1 * k) * rng.dirichlet(np.ones(k))
            sd = rng.uniform(0.5, 1.0, k)
            mean = 30 + np.concatenate([[0.0], np.cumsum(distance * np.maximum(sd[1:], sd[:-1]))])
            component = rng.choice(k, RUNS, p=weight)
            x = rng.normal(mean[component], sd[component])
            found = mixture.select(x)
            right.append(found.components == k)
            oracle.append(_oracle(x, found, np.stack([weight, mean, sd])) == k)
        share, limit = float(np.mean(right)), float(np.mean(oracle))
        met = share >= 0.95 if distance == 5.0 else share >= limit - 0.02
        yield Line(
            what=f"right k at separation {distance:g}; oracle", bar=bar, measured=f"{share:.3f}; {limit:.3f}", met=met
        )


def _oracle(x: Array, found: mixture.Selection, truth: Array) -> int:
    """k of the best BIC when the true family's fits with up to the true k also start from the truth."""
    sample = read_sample(x, OPTIONS)
    points = points_for(sample, FAMILIES["normal"], OPTIONS.floor)
    start = truth / np.array([1.0, sample.unit, sample.unit])[:, None]
    end = best_kernels().newton(FAMILIES["normal"].kernel, points, start[None])
    loglik = float(end.loglik[0]) - sample.n * float(np.log(sample.unit))
    true = (_bic(loglik, truth.shape[1], len(x)), truth.shape[1])
    return min([true, *((fit.bic, fit.components) for fit in found.table)])[1]


def study(setting: Setting) -> Iterator[Line]:
    """The whole study on two cores: real samples, then a simulated study of 22,734 configurations of 150 runs."""
    count = setting.count(STUDY, 2000)
    samples = simulated(count, 4)
    extra = real(setting.data, 523) if setting.data.exists() and not setting.quick else []
    start = time.perf_counter()
    done = sum(1 for _ in mixture.select_each(extra + samples, processes=2))
    elapsed = time.perf_counter() - start
    whole = elapsed * (STUDY + 523) / done
    peak = (_peak_kb(resource.RUSAGE_SELF) + 2 * _peak_kb(resource.RUSAGE_CHILDREN)) / 2**20
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cores = (used.ru_utime + used.ru_stime) / 2 * (STUDY + 523) / done
    what = f"study of {done} configurations on two cores, s for 23,257: elapsed; CPU of each process"
    yield Line(what=what, bar="180 (aim 60)", measured=f"{whole:.0f}; {cores:.0f}", met=whole <= 180)
    yield Line(what="peak memory of the study, three processes, GB", bar="1", measured=f"{peak:.2f}", met=peak <= 1)


def _peak_kb(who: int) -> int:
    return resource.getrusage(who).ru_maxrss


PARTS: dict[str, Callable[[Setting], Iterator[Line]]] = {
    "speed": speed,
    "optima": optima,
    "printed": printed,
    "one_component": one_component,
    "rounded": rounded,
    "separation": separation,
    "study": study,
}


def main() -> None:
    """Measure, print, and write build/bench_fit.json."""
    root = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the samples")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, comma-separated")
    parser.add_argument("--data", type=Path, default=root.parent / "shared" / "data")
    arguments = parser.parse_args()
    setting = Setting(quick=arguments.quick, data=arguments.data)
    console, lines = Console(), []
    parts = arguments.only.split(",")
    if unknown := set(parts) - set(PARTS):
        parser.error(f"--only: no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    for part in parts:
        for line in PARTS[part](setting):
            lines.append(line)
            console.print(f"{line.what}: {line.measured} (bar {line.bar})", highlight=False)
    console.print(_table(lines))
    build = root / "build"
    build.mkdir(exist_ok=True)
    (build / "bench_fit.json").write_text(json.dumps([asdict(line) for line in lines], indent=1) + "\n")


def _table(lines: list[Line]) -> Table:
    table = Table("what", "bar", "measured", "met")
    for line in lines:
        table.add_row(line.what, line.bar, line.measured, {True: "yes", False: "NO", None: ""}[line.met])
    return table


if __name__ == "__main__":
    main()
