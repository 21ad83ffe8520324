"""The bars of models from counters: generated data, real counters, real energy, and the time of ten methods.

    make bench-counters [ARGS="--only generated,counters,energy,time --splits 20 --seeds 100"]

Prints a table and, in its last line, JSON. Real data are read from ../shared/data; without them their lines are left
out. Error rates are mean absolute ones.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner

from analysis.counters import mummi, ranking
from orchestrator.cli.counters.commands import counters
from tests.benchmarks import bars, counter_tables
from tests.benchmarks.bars import Line

DATA = Path(__file__).parents[3] / "shared" / "data"
FIRST = 8
CONFIGURATION = "frequency_khz,file_size_kb,record_size_kb,threads"


def generated(seeds: int) -> Iterator[Line]:
    """Does the ranking find what is active, and does the model hold for larger cases?"""
    found: dict[str, list[bool]] = {}
    rates: dict[str, list[float]] = {}
    for seed in range(seeds):
        small, large, active = counter_tables.generated(seed)
        for target, names in active.items():
            model = mummi.fit(small, target)
            first = {one.counter for one in ranking.ranking(model)[:FIRST]}
            found.setdefault(target, []).append(names <= first)
            rates.setdefault(target, []).extend(((model.predict(large) / large.target(target) - 1) * 100).tolist())
    for target, some in found.items():
        share, bound = float(np.mean(some)), 3.3 if target == "runtime" else 9.0
        yield Line(
            what=f"generated, {seeds} seeds: active {target} counters among the first {FIRST}", bar=">= 95 % of seeds",
            measured=f"{share:.1%}", met=share >= 0.95, figures={"share": share},
        )  # fmt: skip
        low, high = np.percentile(rates[target], [0.5, 99.5])
        extreme = np.max(np.abs(rates[target]))
        yield Line(
            what=f"generated: {target} of larger cases, 99 % of error rates", bar=f"within +-{bound} %",
            measured=f"{low:+.2f} to {high:+.2f} % (largest {extreme:.2f} %)",
            met=bool(-bound <= low and high <= bound), figures={"low": float(low), "high": float(high)},
        )  # fmt: skip


def real_counters(folder: Path, splits: int) -> Iterator[Line]:
    """60 cells of the real counters."""
    table = folder / "cells.csv"
    count = counter_tables.cells(DATA / "perf_counters", table)
    for target, how, bar, aim in (
        ("runtime", [], 9.0, 6.5),
        ("runtime", ["--grouped", "--group-by", CONFIGURATION], 19.0, 14.0),
        ("io_time", [], 26.0, 20.0),
    ):
        name = f"real counters, {count} cells, {splits} splits{', grouped' if how else ''}: {target}"
        told = _json("compare", str(table), "--target", target, *how, "--splits", str(splits))["targets"][0]
        yield from _of_methods(name, told, bar, aim)


def real_energy(folder: Path, splits: int) -> Iterator[Line]:
    """Power over frequency."""
    table = folder / "energy.csv"
    count = counter_tables.energy(DATA / "energy" / "multisocket", table)
    name = f"real energy, {count} runs, {splits} splits: node_power"
    told = _json("compare", str(table), "--target", "node_power", "--splits", str(splits))["targets"][0]
    yield from _of_methods(name, told, 3.5, 2.5, form_bar=11.0)
    for form in ("f^3", "f"):
        model = _json("fit", str(table), "--target", "node_power", "--form", form)["models"][0]
        levels = ", ".join(map(_level, model["by_frequency"]))
        yield Line(
            what=f"  a0 + a {form}: mean error by GHz, 95 %", bar="", measured=levels, met=None,
            figures={"mean": model["mean_error_percent"]},
        )  # fmt: skip


def _level(one: dict[str, float]) -> str:
    interval = f"{one['low_percent']:+.1f} to {one['high_percent']:+.1f}"
    return f"{one['frequency_ghz']:.1f}: {one['mean_percent']:+.1f} ({interval})"


def times(folder: Path) -> Iterator[Line]:
    """The command as it comes, on 144 samples of 53 columns."""
    table = folder / "wide.csv"
    counter_tables.wide(table)
    began = time.monotonic()
    _json("compare", str(table))
    took = time.monotonic() - began
    yield Line(
        what="ten methods on 144 x 53, two splits with stack and importance", bar="<= 60 s", measured=f"{took:.0f} s",
        met=took <= 60, figures={"seconds": took},
    )  # fmt: skip


def _of_methods(
    name: str, told: dict[str, Any], bar: float, aim: float, *, form_bar: float | None = None
) -> Iterator[Line]:  # fmt: skip
    errors = {one["method"]: one["mean_error_percent"] for one in told["methods"]}
    best = told["best"]
    yield Line(
        what=f"{name}, best: {best}", bar=f"<= {bar:g} % (aim {aim:g})", measured=f"{errors[best]:.2f} %",
        met=errors[best] <= bar, figures=errors,
    )  # fmt: skip
    if form_bar is not None:
        yield Line(
            what=f"{name}, the paper's form", bar=f"<= {form_bar:g} %", measured=f"{errors['mummi']:.2f} %",
            met=errors["mummi"] <= form_bar,
        )  # fmt: skip
    others = ", ".join(f"{method} {error:.1f}" for method, error in errors.items() if method != best)
    yield Line(what="  the others (%)", bar="", measured=others, met=None)


def _json(*arguments: str) -> Any:
    result = CliRunner().invoke(counters, [*arguments, "--json"], standalone_mode=False, catch_exceptions=False)
    return json.loads(result.stdout)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="generated,counters,energy,time")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=100)
    asked = parser.parse_args()
    parts = asked.only.split(",")
    lines: list[Line] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "generated" in parts:
            lines += generated(asked.seeds)
        if "counters" in parts and DATA.is_dir():
            lines += real_counters(folder, asked.splits)
        if "energy" in parts and DATA.is_dir():
            lines += real_energy(folder, asked.splits)
        if "time" in parts:
            lines += times(folder)
    bars.tell("counters", lines)


if __name__ == "__main__":
    main()
