"""Does IOzone's own pause of 2 s change the distribution of throughputs? docs/settle-time.md tells what came of it.

    python -m tests.benchmarks.bench_settle --into FOLDER    # runs docs/settle-time*.yaml side by side: 70 minutes
    python -m tests.benchmarks.bench_settle --runs docs/settle-time-runs.csv.gz docs/settle-time-direct-runs.csv.gz

For each configuration: medians and their ratio (0 s / 2 s) with its 95 % interval; the margin within which the medians
are equivalent (two one-sided tests at 5 %); spreads; numbers of components by BIC; Kolmogorov-Smirnov between the two
samples; Wilcoxon's signed-rank test between runs of one block, which are neighbours in time. p values by Holm's
correction over all configurations.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import wilcoxon

from analysis.arrays import Array
from analysis.comparison import Comparison, compare
from analysis.mixture import select
from orchestrator.client import Client
from orchestrator.contracts.tables import read_cells
from orchestrator.embedded.home import discard
from orchestrator.embedded.service import Service

DOCS = Path(__file__).parents[2] / "docs"
STUDIES = ("settle-time", "settle-time-direct")
NONE, OWN = "0", "2"
"""The levels of `settle_s`, in s."""
COLUMNS = (
    *("I/O", "file kB", "mode", "runs", "median 0 s", "median 2 s", "ratio (95 %)", "within"),
    *("IQR 0 s", "IQR 2 s", "components 0 s, 2 s", "KS D", "KS p", "paired p"),
)
RESAMPLES = 2000


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One configuration with and without the pause: throughputs in kB/s by replicate."""

    study: str
    file_size_kb: int
    mode: str
    without: Array
    own: Array

    @property
    def logs(self) -> Comparison:
        """Without the pause beside IOzone's own, in logarithms: a shift there is a ratio."""
        return compare(np.log(self.own), np.log(self.without), quantiles=(0.5,))

    @property
    def margin(self) -> float:
        """The smallest one, as a fraction, within which two one-sided tests at 5 % find the medians equivalent."""
        (shift,) = compare(np.log(self.own), np.log(self.without), quantiles=(0.5,), confidence=0.9).shifts
        return float(np.exp(max(shift.high, -shift.low)) - 1)

    @property
    def paired_p(self) -> float:
        """Of Wilcoxon's signed-rank test over the blocks."""
        return float(wilcoxon(np.log(self.without), np.log(self.own)).pvalue)


def main() -> None:
    """Measure or read, and tell."""
    parser = argparse.ArgumentParser(description="Throughputs with and without IOzone's pauses.")
    parser.add_argument("--into", type=Path, help="folder for what is measured now")
    parser.add_argument("--runs", type=Path, nargs="+", help="exported campaigns to be read instead")
    given = parser.parse_args()
    files = given.runs or measure(given.into or Path.cwd())
    tell([pair for file in files for pair in pairs(file)])


def measure(into: Path) -> list[Path]:
    """Run both studies, each on a node of its own of this machine, and keep what they export."""
    home = Path(tempfile.mkdtemp(prefix="ms-", dir="/var/tmp"))
    with Service(home, nodes=len(STUDIES)) as service, Client(service.address, service.token) as client:
        ids = [client.submit((DOCS / f"{study}.yaml").read_text())[0].id for study in STUDIES]
        for campaign in ids:
            client.wait(campaign)
        files = [into / f"{study}-runs.csv" for study in STUDIES]
        for file, campaign in zip(files, ids, strict=True):
            file.write_bytes(b"".join(client.export(campaign)))
    discard(home)
    return files


def pairs(file: Path) -> list[Pair]:
    """The configurations of an exported campaign; replicates that are valid at both levels."""
    study = "O_DIRECT" if "direct" in file.name else "buffered"
    runs: dict[tuple[int, str], dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in read_cells(file)[1]:
        if row["valid"] == "valid":
            by_level = runs[int(row["file_size_kb"]), row["mode"]]
            by_level[row["settle_s"]][int(row["replicate"])] = float(row["throughput_kbps"])
    found = []
    for (size, mode), by in runs.items():
        both = sorted(by[NONE].keys() & by[OWN].keys())
        without, own = (np.array([by[level][replicate] for replicate in both]) for level in (NONE, OWN))
        found.append(Pair(study=study, file_size_kb=size, mode=mode, without=without, own=own))
    return found


def tell(found: Sequence[Pair]) -> None:
    """A table in Markdown, and what it amounts to."""
    compared = [pair.logs for pair in found]
    ks, paired = holm([one.ks_p for one in compared]), holm([pair.paired_p for pair in found])
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|")
    for pair, one, ks_p, paired_p in zip(found, compared, ks, paired, strict=True):
        shift = one.shifts[0]
        ratio, low, high = np.exp([shift.difference, shift.low, shift.high])
        components = ", ".join(str(select(sample).components) for sample in (pair.without, pair.own))
        cells = (
            *(pair.study, str(pair.file_size_kb), pair.mode, f"{one.n_b} + {one.n_a}"),
            *(f"{np.median(pair.without):,.0f}", f"{np.median(pair.own):,.0f}"),
            *(f"{ratio:.3f} ({low:.3f} to {high:.3f})", f"{pair.margin:.1%}"),
            *(
                f"{spread(pair.without):.0%}",
                f"{spread(pair.own):.0%}",
                components,
                f"{one.ks:.2f}",
                f"{ks_p:.2g}",
                f"{paired_p:.2g}",
            ),
        )
        print("| " + " | ".join(cells) + " |")
    print()
    for name, p_values in (("KS", [one.ks_p for one in compared]), ("paired", [pair.paired_p for pair in found])):
        below = sum(p < 0.05 for p in p_values)
        print(
            f"{name}: {below} of {len(found)} p values below 0.05 before the correction, chance alone gives one in 20"
        )
    for study, size in dict.fromkeys((pair.study, pair.file_size_kb) for pair in found):
        modes = [pair for pair in found if (pair.study, pair.file_size_kb) == (study, size)]
        for what, statistic in (("median", median), ("IQR / median", spread)):
            ratio, low, high = overall(modes, statistic)
            print(f"{study}, {size} kB, all modes: {what} at 0 s / at 2 s: {ratio:.2f} ({low:.2f} to {high:.2f})")


def median(sample: Array) -> float:
    """In kB/s."""
    return float(np.median(sample))


def spread(sample: Array) -> float:
    """The interquartile range as a share of the median."""
    quarter, half, three_quarters = np.quantile(sample, (0.25, 0.5, 0.75))
    return float((three_quarters - quarter) / half)


def overall(found: Sequence[Pair], statistic: Callable[[Array], float]) -> tuple[float, float, float]:
    """The geometric mean of a statistic's ratios (0 s / 2 s); its 95 % interval resamples blocks, all modes at once."""
    rng = np.random.default_rng(4)
    blocks = min(len(pair.own) for pair in found)

    def mean(places: Array) -> float:
        logs = [np.log(statistic(pair.without[places]) / statistic(pair.own[places])) for pair in found]
        return float(np.mean(logs))

    drawn = [mean(rng.integers(0, blocks, blocks)) for _ in range(RESAMPLES)]
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(np.exp(mean(np.arange(blocks)))), float(np.exp(low)), float(np.exp(high))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm (1979): step-down correction."""
    order = np.argsort(p_values)
    scaled = np.maximum.accumulate([(len(order) - rank) * p_values[at] for rank, at in enumerate(order)])
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(scaled, 1.0)
    return [float(value) for value in corrected]


if __name__ == "__main__":
    main()
