"""`modescope counters compare`: the ten methods, the paper's form and a stack, on the same splits."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import click
import numpy as np

from analysis.arrays import Indices
from analysis.counters import comparison, methods, mummi
from analysis.counters.comparison import Division, Outcome
from analysis.counters.features import Features, features
from analysis.counters.samples import Samples
from analysis.counters.summary import Summary, summarise
from analysis.mixture.many import each
from orchestrator.cli import printing
from orchestrator.cli.counters import options, tables
from orchestrator.cli.counters.options import Table
from orchestrator.cli.files import check_writable, write_whole
from orchestrator.contracts.errors import RequestError

COLUMNS = (
    "target", "method", "mean_error_percent", "se_percent", "median_error_percent", "lowest_percent",
    "highest_percent", "weight",
)  # fmt: skip
PREDICTED_COLUMNS = ("target", "method", "measured", "predicted", "error_percent")
MEMORISED = (
    "single runs: runs of one configuration stand on both sides of a random split, so that every method recalls what "
    "it has seen and its error rate says nothing; use --grouped, or merge the runs"
)


def _processes() -> int:
    return min(2, len(os.sched_getaffinity(0)))


@click.command()
@options.table
@click.option("--splits", type=click.IntRange(1, 1000), default=2, show_default=True, help="Random splits, 80 to 20.")
@click.option("--grouped", is_flag=True, help="Hold out whole configurations (--group-by) instead of samples.")
@click.option("--factors/--no-factors", default=True, show_default=True, help="Learn from the labels, too.")
@click.option("--form", type=click.Choice(["auto", "1/f", "f^3", "f", "none"]), default="auto", show_default=True)
@click.option("--processes", type=click.IntRange(1), default=_processes, help="Processes to learn in.  [default: 2]")
@click.option("--predictions", type=click.Path(path_type=Path), help="Write every prediction here (CSV).")
@click.option("--plots", type=click.Path(path_type=Path), help="Write violins, importance and predictions here (HTML).")
@options.seed_option
@options.out_option
@options.json_option
def compare(
    *, table: Table, targets: tuple[str, ...] | None, splits: int, grouped: bool, factors: bool, form: str,
    processes: int, predictions: Path | None, plots: Path | None, seed: int, out: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Compare ten methods, the paper's form and a stacked ensemble on the same splits.

    All learn log targets (no prediction is negative) from log rates, 1 / f, f^3 and the labels; what is tuned is
    tuned inside the training samples. Importance: what is lost when a feature is shuffled among the held-out samples.

    \b
    Example:
      modescope counters compare samples.csv --target runtime --splits 20 --plots errors.html
      modescope counters compare samples.csv --target runtime --grouped --group-by threads,file_size_kb
    """
    methods.require()
    for path in (out, predictions, plots):
        if path is not None:
            check_writable(path)
    warned = _warnings(table, grouped)
    for warning in warned:
        click.echo(f"warning: {warning}", err=True)
    asked = _Asked(splits=splits, grouped=grouped, factors=factors, form=form, processes=processes, seed=seed)
    found = {}
    for target in table.targets(targets):
        samples = table.samples.usable(target)
        found[target] = (samples, _compared(table, samples, target, asked))
        if not as_json:
            tables.tell_summary(target, found[target][1], grouped=grouped)
    summaries = {target: summary for target, (_, summary) in found.items()}
    if out is not None:
        write_whole(out, options.lines(COLUMNS, _rows(summaries)))
    if predictions is not None:
        names = list(table.samples.labels)
        write_whole(predictions, options.lines((*names, *PREDICTED_COLUMNS), _predicted(found, names)))
    if plots is not None:
        from orchestrator.report import counter_pictures

        write_whole(plots, [counter_pictures.page(summaries, grouped=grouped).encode()])
    if as_json:
        told = [_as_dict(target, summary) for target, summary in summaries.items()]
        printing.as_json({"table": table.told(), "grouped": grouped, "warnings": warned, "targets": told})
    else:
        table.tell()


def _warnings(table: Table, grouped: bool) -> list[str]:
    labels = [name for name in table.samples.labels if name != table.columns.frequency]
    cells = options.configurations(table.samples, labels)
    return [] if grouped or not labels or len(np.unique(cells)) > 0.9 * len(cells) else [MEMORISED]


@dataclass(frozen=True, kw_only=True)
class _Asked:
    splits: int
    grouped: bool
    factors: bool
    form: str
    processes: int
    seed: int

    def form_of(self, target: str) -> mummi.Form:
        return mummi.natural_form(target) if self.form == "auto" else self.form  # type: ignore[return-value]  # checked


def _compared(table: Table, samples: Samples, target: str, asked: _Asked) -> Summary:
    if asked.grouped and not table.group_by:
        raise RequestError("--grouped needs labels that tell configurations apart: name them with --group-by")
    groups = options.configurations(samples, table.group_by) if asked.grouped else np.arange(samples.n)
    divided = comparison.divisions(groups, asked.splits, np.random.default_rng(asked.seed))
    learned = features(samples, None if asked.factors else ())
    task = partial(
        _outcomes,
        samples=samples,
        target=target,
        learned=learned,
        groups=groups,
        form=asked.form_of(target),
        seed=asked.seed,
    )
    alone = asked.processes == 1 or len(divided) == 1  # then the display moves with every method
    whole = map(task, divided) if alone else each(partial(_listed, task=task), divided, asked.processes, chunk=1)
    told = chain.from_iterable(whole)
    count = len(divided) * len(comparison.METHODS)
    return summarise(printing.counted(f"learning {target}", told, count), learned.names)


def _outcomes(
    division: Division, *, samples: Samples, target: str, learned: Features, groups: Indices, form: mummi.Form,
    seed: int,
) -> Iterator[Outcome]:  # fmt: skip
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # the matrices are small, and processes share the cores already
        yield from comparison.outcomes(samples, target, learned, division, groups, form=form, seed=seed)


def _listed(division: Division, *, task: Callable[[Division], Iterator[Outcome]]) -> list[Outcome]:
    """What another process can send back."""
    return list(task(division))


def _rows(summaries: dict[str, Summary]) -> Iterator[Sequence[object]]:
    for target, found in summaries.items():
        for one in found.methods:
            numbers = (getattr(one, name) for name in COLUMNS[2:-1])
            yield (target, one.method, *(_number(value) for value in numbers), found.weights.get(one.method))


def _predicted(found: dict[str, tuple[Samples, Summary]], names: Sequence[str]) -> Iterator[Sequence[object]]:
    for target, (samples, summary) in found.items():
        for one in summary.methods:
            for place, measured, predicted in zip(one.samples, one.measured, one.predicted, strict=True):
                labels = (samples.labels[name][place] for name in names)
                yield (*labels, target, one.method, measured, predicted, (predicted / measured - 1) * 100)


def _as_dict(target: str, found: Summary) -> dict[str, Any]:
    return {
        "target": target,
        "splits": found.splits,
        "best": found.best.method,
        "methods": [
            {
                "method": one.method,
                **{name: _number(getattr(one, name)) for name in COLUMNS[2:-1]},
                "importance": [asdict(part) | {"sd": _number(part.sd)} for part in one.importance],
            }
            for one in found.methods
        ],
        "kendall_w": _number(found.agreement),
        "rank_correlations": [{"a": a, "b": b, "spearman": value} for a, b, value in found.correlations],
        "stack_weights": found.weights,
    }


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
