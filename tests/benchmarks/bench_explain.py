"""Does attribution name what was planted, and nothing else? Samples of known cause (`planted`), fitted and explained.

    python -m tests.benchmarks.bench_explain --cases 25 --causes node,session

A case counts where the strongest finding is what was planted, and, of a null, where nothing is named. `--cases` is for
each layout of nodes and jobs.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator

import numpy as np

from analysis import attribution, mixture
from tests.benchmarks import bars, planted
from tests.benchmarks.bars import Line

OPTIONS = mixture.Options()
WANTED = 0.95


def main() -> None:
    """Every cause, in all layouts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=25, help="for each cause and layout")
    parser.add_argument("--causes", help="comma-separated; all when not given")
    arguments = parser.parse_args()
    causes = [*planted.EFFECTS, *planted.NULLS] if arguments.causes is None else arguments.causes.split(",")
    bars.tell("explain", [line for cause in causes for line in _cause(cause, arguments.cases)])


def _cause(cause: str, cases: int) -> Iterator[Line]:
    named, labels, took_s = [], Counter[str](), []
    for plan in planted.PLANS:
        for case in range(cases):
            rng = np.random.default_rng([case, plan.n, plan.nodes, len(cause)])
            runs = planted.runs(plan, {**planted.EFFECTS, **planted.NULLS}[cause], rng)
            selection = mixture.select(runs.values, options=OPTIONS)
            begin = time.perf_counter()
            found = attribution.explain(runs, selection, options=OPTIONS, rng=rng)
            took_s.append(time.perf_counter() - begin)
            named.append((plan, tuple(one.name for one in found.named)))
            labels["one mode" if found.label is None else found.label.where] += 1
    null = cause in planted.NULLS
    right = [names == () if null else names[:1] == (cause,) for _, names in named]
    share = sum(right) / len(right)
    alone = sum(names == (cause,) for _, names in named) / len(named)
    yield Line(
        what=f"nothing named where modes come {cause}" if null else f"planted: {cause}",
        bar=f">= {WANTED:.2f}",
        measured=f"{share:.3f} of {len(right)}" + ("" if null else f"; nothing else named {alone:.3f}"),
        met=share >= WANTED,
        figures={
            "mean_s": float(np.mean(took_s)), "longest_s": max(took_s),
            **{f"{p.nodes}x{p.jobs}x{p.per_job}": _of_plan(p, named, right) for p in planted.PLANS},
        },
    )  # fmt: skip
    told = ", ".join(f"{label} {count / len(named):.2f}" for label, count in labels.most_common())
    yield Line(what="  labels", bar="", measured=told, met=None, figures=dict(labels))


def _of_plan(plan: planted.Plan, named: list[tuple[planted.Plan, tuple[str, ...]]], right: list[bool]) -> float:
    return float(np.mean([ok for (of, _), ok in zip(named, right, strict=True) if of is plan]))


if __name__ == "__main__":
    main()
