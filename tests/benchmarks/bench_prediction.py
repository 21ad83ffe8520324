"""How good predicted distributions are, and what choosing where to measure saves: a table, and JSON.

    python tests/benchmarks/bench_prediction.py FILE.csv[.gz] [--labels A,B] [--json OUT.json] [--rounds]

On any file of samples: folds=5, train-share 0.2 and 0.1, each factor left out; with `--rounds` active choice of a
tenth beside a random tenth and a random fifth.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from analysis.prediction import Predictor, Samples, Split, evaluate
from analysis.prediction.active import choose, spread_out
from analysis.prediction.factors import Factors
from analysis.prediction.quantiles import Scale, ks_distance
from orchestrator.contracts.tables import read_table

# Of the tenth that is chosen so much fills the space first; the rest goes in so many batches.
FIRST, BATCHES = 0.3, 2


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--labels")
    parser.add_argument("--splits", help="As in folds=5,leave=threads.  [default: all]")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--rounds", action="store_true")
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    table = read_table(asked.file, asked.labels.split(",") if asked.labels else None)
    kept = [sample for sample in table.samples if len(sample.values)]
    samples = Samples(
        names=table.label_names, rows=[sample.labels for sample in kept], values=[sample.values for sample in kept]
    )
    told: dict[str, Any] = {}
    if asked.rounds:
        told["active"] = active(samples, asked.processes)
        print(json.dumps(told["active"]))
    else:
        for text in asked.splits.split(",") if asked.splits else splits(samples):
            told[text] = evaluate(samples, Split.parse(text), processes=asked.processes).summary()
            told[text].pop("left_out")
            line(text, told[text])
    if asked.json:
        asked.json.write_text(json.dumps(told, indent=1) + "\n")
    return 0


def splits(samples: Samples) -> list[str]:
    """Every kind of leaving out that the file allows."""
    factors = Factors.of(samples.names, samples.rows).varying
    left = [f"leave={factor.name}" for factor in factors if len(factor.levels) > 2]
    return ["folds=5", "train-share=0.2", "train-share=0.1", *left]


def line(text: str, told: dict[str, Any]) -> None:
    """One row of the table, over points that are no extrapolation."""
    inner = told["interpolated"]
    figures = " ".join(
        f"{name} {inner[name]:.3f}" for name in ("ks", "ks_nearest", "ks_mesh", "excess_crps", "covered")
    )
    print(f"{text:24} n {inner['n']} {figures} train {told['train_s']:.1f} s, {1000 * told['predict_s']:.2f} ms each")
    sys.stdout.flush()


def active(samples: Samples, processes: int) -> dict[str, float]:
    """The mean distance over what is left: a tenth chosen in batches, beside random tenths and fifths."""
    count, rng = len(samples.rows), np.random.default_rng(1)
    tenth = count // 10
    chosen = spread_out(samples.names, samples.rows, round(FIRST * tenth), seed=1)
    begun = time.perf_counter()
    for batches in range(BATCHES, 0, -1):
        predictor = _fitted(samples, chosen, processes)
        left = sorted(set(range(count)) - set(chosen))
        more = choose(predictor, [samples.rows[at] for at in left], (tenth - len(chosen)) // batches)
        chosen = [*chosen, *(left[at] for at in more)]
    found: dict[str, float] = {
        "active 10 %": _distance(samples, chosen, processes),
        "rounds_s": time.perf_counter() - begun,
    }
    for share in (0.1, 0.2):
        rows = rng.permutation(count)[: round(share * count)].tolist()
        found[f"random {100 * share:.0f} %"] = _distance(samples, rows, processes)
    rows = spread_out(samples.names, samples.rows, tenth, seed=1)
    found["space-filling 10 %"] = _distance(samples, rows, processes)
    return found


def _fitted(samples: Samples, rows: list[int], processes: int) -> Predictor:
    return Predictor.fit(
        samples.names, [samples.rows[at] for at in rows], [samples.values[at] for at in rows], processes=processes
    )


def _distance(samples: Samples, rows: list[int], processes: int) -> float:
    left = sorted(set(range(len(samples.rows))) - set(rows))
    scale = Scale.of(samples.values)
    found = _fitted(samples, rows, processes).predict([samples.rows[at] for at in left])
    pairs = zip(found.quantiles, left, strict=True)
    return float(np.mean([ks_distance(scale.to(q), np.sort(scale.to(samples.values[at]))) for q, at in pairs]))


if __name__ == "__main__":
    raise SystemExit(main())
