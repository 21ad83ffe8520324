"""What `modescope logs evaluate` reaches on a year of jobs, beside the bars of the issue.

    .venv/bin/python -m tests.benchmarks.bench_logs [--data ../shared/data/tokio_abc] [--only edison,mira]

Without the data nothing is measured. The whole result is written to build/bench_logs.json.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.benchmarks.bars import Line, tell

MODESCOPE = Path(sys.executable).parent / "modescope"
# (R^2, R^2 of logarithms) that the issue gives for Edison's year.
REFERENCE = {
    "write": {
        "key_mean": (0.463, 0.330),
        "last_run": (0.682, 0.231),
        "history": (0.689, 0.389),
        "paper": (0.217, 0.240),
    },
    "read": {
        "key_mean": (0.781, 0.460),
        "last_run": (0.906, 0.951),
        "history": (0.937, 0.969),
        "paper": (0.706, 0.505),
    },
}


def evaluated(path: Path) -> tuple[dict[str, Any], float]:
    """The JSON of the command, and the seconds it took."""
    began = time.monotonic()
    run = subprocess.run([MODESCOPE, "logs", "evaluate", path, "--json"], stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(run.stdout), time.monotonic() - began


def show(name: str, found: dict[str, Any], console: Console) -> None:
    """Everything that was measured, with what the issue gives."""
    table = Table(title=name)
    for column in ("", "file system", "model", "R²/log", "issue", "within", "in 90 %", "jobs"):
        table.add_column(column)
    for direction, by_file_system in found.items():
        for file_system, models in by_file_system.items():
            for model, one in models.items():
                given = REFERENCE.get(direction, {}).get(model) if (name, file_system) == ("edison", "all") else None
                table.add_row(
                    direction, file_system, model, f"{one['r2']:.3f}/{one['r2_log']:.3f}",
                    "" if given is None else f"{given[0]:.3f}/{given[1]:.3f}",
                    f"{one['within_r2']:.3f}", f"{100 * one['coverage90']:.1f} %", f"{one['n']:,}",
                )  # fmt: skip
    console.print(table)


def bars_of_edison(found: dict[str, Any]) -> list[Line]:
    """The bars of the issue."""
    write = found["write"]["all"]["best"]
    return [
        _line("writes, R²", ">= 0.76 (aim 0.83)", write["r2"], write["r2"] >= 0.76),
        _line("writes, R² of logarithms", ">= 0.46 (aim 0.60)", write["r2_log"], write["r2_log"] >= 0.46),
        _line("writes, R² within keys", ">= 0.15", write["within_r2"], write["within_r2"] >= 0.15),
    ]


def bars_of_any(name: str, found: dict[str, Any]) -> list[Line]:
    """No worse than the weighted history, and intervals that hold."""
    lines = []
    for direction, by_file_system in found.items():
        best, history = by_file_system["all"]["best"], by_file_system["all"]["history"]
        gain, gain_log = best["r2"] - history["r2"], best["r2_log"] - history["r2_log"]
        lines += [
            _line(f"{name}, {direction}: R² less that of the history", ">= -0.02", gain, gain >= -0.02),
            _line(f"{name}, {direction}: the same of logarithms", ">= -0.01", gain_log, gain_log >= -0.01),
            _line(
                f"{name}, {direction}: share in 90 % intervals",
                "0.87 to 0.93",
                best["coverage90"],
                0.87 <= best["coverage90"] <= 0.93,
            ),
        ]
    return lines


def _line(what: str, bar: str, value: float, met: bool | None) -> Line:
    return Line(what=what, bar=bar, measured=f"{value:.3f}", met=met, figures={"value": value})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/tokio_abc"))
    parser.add_argument("--only", default="", help="machines, comma-separated; all that are there by default")
    chosen = parser.parse_args()
    wanted = [name for name in chosen.only.split(",") if name]
    paths = {path.name.partition("-")[0]: path for path in sorted(chosen.data.glob("*-summaries*.csv.gz"))}
    console, results, lines = Console(width=120), {}, []
    for name, path in paths.items():
        if not wanted or name in wanted:
            results[name], seconds = evaluated(path)
            show(name, results[name], console)
            lines += bars_of_edison(results[name]) if name == "edison" else []
            lines += bars_of_any(name, results[name])
            lines.append(_line(f"{name}: seconds of the whole command", "a couple of minutes", seconds, seconds < 150))
    if not results:
        console.print(f"{chosen.data}: no *-summaries*.csv.gz is there: nothing is measured")
        return
    out = Path("build/bench_logs.json")
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps(results))
    tell("logs", lines)


if __name__ == "__main__":
    main()
