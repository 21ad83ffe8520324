"""Tables of counters for the benchmark: generated with a known truth, and prepared from real data."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from analysis.counters.samples import Samples

SYSTEMS = ("nort-perf", "nort-nojournal", "old-cpu-scaling")
BLOCKS, IN_BLOCK, ACTIVE = 8, 4, 6
SMALL, LARGE = 144, 36


def generated(seed: int, *, correlation: float = 0.8) -> tuple[Samples, Samples, dict[str, set[str]]]:
    """144 samples to learn from, 36 of larger cases (rates 1.3 times as large), and the active counters by target.

    32 counters in 8 blocks of 4 correlated ones; 6 active for the runtime, 6 for powers; 1 % noise; 1 / f and f^3.
    """
    rng = np.random.default_rng([seed, 32])
    n, count = SMALL + LARGE, BLOCKS * IN_BLOCK
    common = np.repeat(rng.normal(size=(n, BLOCKS)), IN_BLOCK, axis=1)
    sizes = 10 ** rng.uniform(-5, -1, count)
    rates = sizes * np.exp(
        0.35 * (np.sqrt(correlation) * common + np.sqrt(1 - correlation) * rng.normal(size=(n, count)))
    )
    rates[SMALL:] *= 1.3
    f = rng.choice([1.2, 1.6, 2.0, 2.4, 2.8], n)
    names = [f"counter_{k:02d}" for k in range(count)]
    targets, active = {}, {}
    for target, ahead in (("runtime", 20 + 60 / f), ("node_power", 80 + 4 * f**3), ("cpu_power", 40 + 3 * f**3)):
        chosen = rng.choice(count, ACTIVE, replace=False)
        clean = ahead + (rates[:, chosen] / sizes[chosen]) @ rng.uniform(5, 20, ACTIVE)
        targets[target] = clean * (1 + 0.01 * rng.normal(size=n))
        active[target] = {names[k] for k in chosen}
    whole = Samples(
        labels={"cores": tuple("64" if k < SMALL else "2048" for k in range(n))},
        rates={name: rates[:, k] for k, name in enumerate(names)},
        frequency_ghz=f,
        targets=targets,
    )
    return whole.only(np.arange(SMALL)), whole.only(np.arange(SMALL, n)), active


def wide(path: Path) -> None:
    """144 samples of 53 columns to learn from."""
    rng = np.random.default_rng(5)
    rates = rng.uniform(1, 3, (SMALL, 52))
    f = rng.choice([1.2, 1.6, 2.0, 2.4, 2.8], SMALL)
    runtime = (20 + 60 / f + rates[:, :6] @ np.arange(5, 11)) * (1 + 0.01 * rng.normal(size=SMALL))
    _write(path, {"f": f, **{f"counter_{k}": rates[:, k] for k in range(52)}, "runtime": runtime})


def cells(folder: Path, path: Path) -> int:
    """3 systems x 20 configurations: means over 150 invocations, counted once each. How many cells."""
    found: dict[tuple[str, ...], dict[str, list[float]]] = {}
    for system in SYSTEMS:
        for run in _invocations(folder / f"{system}.csv.gz").values():
            first = run[0]
            key = (system, *(first[name] for name in ("freq", "fsize", "rsize", "threads")))
            size = float(first["threads"]) * float(first["fsize"])
            cell = found.setdefault(key, {})
            for name in list(first)[list(first).index("runtime") :]:
                cell.setdefault(name, []).append(float(first[name]))
            cell.setdefault("io_time", []).append(sum(size / float(row["throughput"]) for row in run))
    names = ("system", "frequency_khz", "file_size_kb", "record_size_kb", "threads")
    rows = [
        {**dict(zip(names, key, strict=True)), **{k: np.mean(v) for k, v in cell.items()}}
        for key, cell in found.items()
    ]
    _write(path, {name: [row[name] for row in rows] for name in rows[0]})
    return len(rows)


def energy(folder: Path, path: Path) -> int:
    """The runs of ICON: power = largest energy / largest runtime over ranks and sockets. How many runs."""
    rows: list[dict[str, Any]] = []
    for report in sorted((folder / "icon_reports").glob("*.csv")):
        words = report.stem.split("_")  # 12_ranks_8_threads_1000000_hz_100_steps
        with report.open(encoding="utf-8", newline="") as stream:
            told = list(csv.DictReader(stream))
        joules = max(float(row["total_energy"]) for row in told)
        seconds = max(float(row["total_runtime"]) for row in told)
        rows.append(
            {
                "ranks": words[0], "threads": words[2], "frequency_khz": words[4], "steps": words[6],
                "node_power": joules / seconds,
            }
        )  # fmt: skip
    _write(path, {name: [row[name] for row in rows] for name in rows[0]})
    return len(rows)


def _invocations(path: Path) -> Mapping[tuple[str, ...], Sequence[dict[str, str]]]:
    """The rows (one a mode) of each invocation."""
    found: dict[tuple[str, ...], list[dict[str, str]]] = {}
    with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            key = tuple(row[name] for name in ("freq", "fsize", "rsize", "threads", "iter"))
            found.setdefault(key, []).append(row)
    return found


def _write(path: Path, columns: Mapping[str, Any]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
