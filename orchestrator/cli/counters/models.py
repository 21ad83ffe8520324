"""`modescope counters fit`, `rank` and `what-if`: the paper's form, and what it says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np

from analysis.arrays import Flags
from analysis.counters import intervals, mummi, ranking
from analysis.counters import what_if as questions
from analysis.counters.samples import Samples
from orchestrator.cli import printing
from orchestrator.cli.counters import options, tables
from orchestrator.cli.counters.columns import Wanted
from orchestrator.cli.counters.options import Table
from orchestrator.cli.files import check_writable, write_whole
from orchestrator.contracts.errors import RequestError

FORMS = ("auto", "1/f", "f^3", "f", "none")
FIT_COLUMNS = ("target", "form", "term", "coefficient", "low", "high", "share", "unique")
RANK_COLUMNS = (
    "target", "rank", "counter", "in_model", "coefficient", "share", "unique", "spearman", "p", "loading", "component",
)  # fmt: skip
PREDICTED_COLUMNS = ("target", "measured", "predicted", "error_percent")
CHANGE_COLUMNS = (
    "target", "counter", "change", "before", "after", "change_percent", "low_percent", "high_percent", "alone_percent",
)  # fmt: skip
form_option = click.option(
    "--form",
    type=click.Choice(FORMS),
    default="auto",
    show_default=True,
    help="Term of the frequency; auto: f^3 for powers, 1/f otherwise.",
)


@click.command()
@options.table
@form_option
@click.option("--hold-out", metavar="LABEL=LEVEL,...", help="Fit to the others, and predict these samples.")
@click.option("--test", "test_file", type=click.Path(path_type=Path), help="Predict the samples of this table, too.")
@click.option("--predictions", type=click.Path(path_type=Path), help="Write what was predicted here (CSV).")
@click.option("--resamples", type=click.IntRange(0), default=intervals.RESAMPLES, show_default=True)
@options.seed_option
@options.out_option
@options.json_option
def fit(
    *, table: Table, targets: tuple[str, ...] | None, form: str, hold_out: str | None, test_file: Path | None,
    predictions: Path | None, resamples: int, seed: int, out: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Fit T = b0 + sum b_i r_i + b / f (powers: a f^3), with non-negative coefficients.

    r_i are counters per cycle. Major counters are chosen by rank correlation and principal components, and thinned
    out by the extended BIC; intervals are of 95 %, over configurations drawn anew.

    \b
    Example:
      modescope counters fit samples.csv --hold-out cores=2048,4096 --predictions larger.csv
      modescope counters fit small.csv --test large.csv --target runtime,node_power --json
    """
    for path in (out, predictions):
        if path is not None:
            check_writable(path)
    held = None if hold_out is None else options.held_out(table.samples, hold_out)
    tests = [*_tests(table, held), *([] if test_file is None else [_like(table, test_file)])]
    fitted, told, rows, predicted = [], [], [], []
    for target in table.targets(targets):
        samples = _learned_from(table.samples, held, target)
        model = mummi.fit(samples, target, form=_form(form, target))
        rng = np.random.default_rng(seed)
        groups = options.configurations(samples, table.group_by)
        known = intervals.coefficients(samples, model, groups, rng, resamples) if resamples else {}
        levels = intervals.by_frequency(samples, model.predict(samples), samples.target(target))
        forms = intervals.forms(samples, target)
        fitted.append((model, known, levels, forms))
        here = [row for test in tests for row in _predicted(test, model)]
        predicted += here
        rows += list(_fit_rows(model, known))
        told.append(tables.model_as_dict(model, known, levels, forms, samples.notes) | tables.errors_as_dict(here))
        if not as_json:
            tables.tell_model(model, known, levels, forms, here)
    if out is not None:
        write_whole(out, options.lines(FIT_COLUMNS, rows))
    if predictions is not None:
        _write_predictions(predictions, table, predicted)
    if as_json:
        printing.as_json({"table": table.told(), "models": told})
    else:
        table.tell()


@click.command()
@options.table
@form_option
@options.out_option
@options.json_option
def rank(
    *, table: Table, targets: tuple[str, ...] | None, form: str, out: Path | None, as_json: bool
) -> None:  # fmt: skip
    """Rank the counters: which one to work on, target by target and over all.

    First those of the model, by what of the explained variation is lost without them (`unique`); then the others, by
    what they would add.

    Example: modescope counters rank samples.csv --target runtime --out ranking.csv
    """
    if out is not None:
        check_writable(out)
    if not table.samples.rates:
        raise RequestError("the table has no counters to rank; --counters names columns that are some")
    found = {}
    for target in table.targets(targets):
        found[target] = ranking.ranking(mummi.fit(table.samples.usable(target), target, form=_form(form, target)))
    over_all = ranking.combined(list(found.values()))
    if out is not None:
        rows = (
            [target, *(getattr(one, name) for name in RANK_COLUMNS[1:])] for target in found for one in found[target]
        )
        write_whole(out, options.lines(RANK_COLUMNS, rows))
    if as_json:
        rankings = [{"target": target, "ranking": [asdict(one) for one in places]} for target, places in found.items()]
        printing.as_json({"table": table.told(), "rankings": rankings, "combined": over_all})
        return
    for target, places in found.items():
        tables.tell_ranking(target, places)
    if len(found) > 1:
        click.echo(f"over all targets: {', '.join(over_all[:10])}")
    table.tell()


@click.command("what-if")
@options.table
@form_option
@click.option("--counter", required=True, help="Which counter changes; `frequency` is allowed.")
@click.option("--change", "percent", required=True, type=float, help="By how many per cent, as in -20.")
@click.option("--resamples", type=click.IntRange(20), default=questions.RESAMPLES, show_default=True)
@options.seed_option
@options.out_option
@options.json_option
def what_if(
    *, table: Table, targets: tuple[str, ...] | None, form: str, counter: str, percent: float, resamples: int,
    seed: int, out: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Say what becomes of each target if a counter per cycle changed; counters that go with it follow.

    From the median of the samples. A counter follows when its rank correlation is at least 0.5, along its regression
    on the one that changes. A value that was never measured is refused.

    Example: modescope counters what-if samples.csv --counter context-switches --change -20
    """
    if out is not None:
        check_writable(out)
    found = []
    for target in table.targets(targets):
        samples = table.samples.usable(target)
        model = mummi.fit(samples, target, form=_form(form, target))
        groups = options.configurations(samples, table.group_by)
        rng = np.random.default_rng(seed)
        found.append(
            questions.what_if(samples, model, counter, percent, rng, groups=groups, resamples=resamples)
        )  # fmt: skip
    if out is not None:
        rows = (
            [one.target, counter, percent, *(getattr(one, name) for name in CHANGE_COLUMNS[3:])] for one in found
        )  # fmt: skip
        write_whole(out, options.lines(CHANGE_COLUMNS, rows))
    if as_json:
        printing.as_json(
            {"table": table.told(), "counter": counter, "change": percent, "changes": [asdict(one) for one in found]}
        )
        return
    for one in found:
        tables.tell_change(counter, percent, one)
    table.tell()


def _form(form: str, target: str) -> mummi.Form:
    return mummi.natural_form(target) if form == "auto" else form  # type: ignore[return-value]  # click checked it


def _learned_from(samples: Samples, held: Flags | None, target: str) -> Samples:
    return (samples if held is None else samples.only(~held)).usable(target)


def _tests(table: Table, held: Flags | None) -> Iterator[Samples]:
    if held is not None:
        yield table.samples.only(held)


def _like(table: Table, path: Path) -> Samples:
    """Another table with the same columns."""
    columns = table.columns
    wanted = Wanted(
        labels=columns.labels, counters=columns.counters, targets=columns.targets, frequency=columns.frequency,
        cycles=columns.cycles,
    )  # fmt: skip
    return options.read([path], wanted, table.merge, ()).samples


def _predicted(test: Samples, model: mummi.Model) -> Iterator[tables.Prediction]:
    """Of the samples that were measured."""
    y = test.target(model.target)
    missing = [term.counter for term in model.terms if term.counter not in test.rates]
    if missing:
        raise RequestError(f"the samples to predict have no counter {missing[0]}")
    predicted = model.predict(test)
    for place in np.flatnonzero(np.isfinite(y) & (y > 0) & np.isfinite(predicted)):
        yield tables.Prediction(
            target=model.target,
            labels=options.label_cells(test, int(place)),
            measured=float(y[place]),
            predicted=float(predicted[place]),
        )


def _fit_rows(model: mummi.Model, known: dict[str, intervals.Interval]) -> Iterator[Sequence[object]]:
    ahead = [("intercept", model.intercept), ("frequency", model.frequency_coefficient)]
    for name, coefficient in ahead:
        yield (model.target, model.form, name, coefficient, *_edges(known, name), None, None)
    for term in model.terms:
        edges = _edges(known, term.counter)
        yield (model.target, model.form, term.counter, term.coefficient, *edges, term.share, term.unique)


def _edges(known: dict[str, intervals.Interval], name: str) -> tuple[Any, Any]:
    return (known[name].low, known[name].high) if name in known else (None, None)


def _write_predictions(path: Path, table: Table, predicted: Sequence[tables.Prediction]) -> None:
    names = list(table.samples.labels)
    rows = (
        [*(one.labels.get(name, "") for name in names), one.target, one.measured, one.predicted, one.error_percent]
        for one in predicted
    )
    write_whole(path, options.lines((*names, *PREDICTED_COLUMNS), rows))
