"""`modescope criticality`: which ranks hold everybody up, whether it is always the same, and what tells beforehand."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orchestrator.cli.criticality import told
from orchestrator.cli.criticality.options import INPUT, JSON, JUDGING, LEARNING, chosen, shares
from orchestrator.cli.criticality.studied import (
    Given,
    counters_of,
    drift_of,
    evaluation_of,
    examples_for,
    model_in,
    prepared,
    rule_of,
    trace_of,
)
from orchestrator.cli.files import check_writable, write_whole
from orchestrator.cli.printing import as_json
from orchestrator.contracts.errors import TableError

if TYPE_CHECKING:
    from analysis.criticality import Examples, Model, Options, Samples, Trace


@click.group(name="criticality")
def criticality() -> None:
    """Which ranks hold everybody up, whether it is always the same ones, and what tells beforehand.

    FILE is a table (CSV, plain or .gz) with the columns collective, rank and arrival_s (or slack_s, or duration_s
    where all start together), and any columns of counters; several rows for one rank and collective are samples of
    it. It may also be a trace: DUMPI (.meta or .bin, or its ASCII in *.txt), OTF2 (.otf2), or a Darshan log with
    APMPI (totals of each rank only).

    \b
    Example:
      modescope criticality inconsistency trace.csv --plot slow.html
      modescope criticality evaluate trace.csv --split time
      modescope criticality train trace.csv --out model.json
      modescope criticality predict new.csv --model model.json --out named.csv
    """


@criticality.command()
@chosen(INPUT)
@click.option("--slow", callback=shares, default="0.05,0.5", show_default=True, help="Shares of slow ranks.")
@click.option("--ties", type=click.Choice(["rank", "all"]), default="rank", show_default=True,
              help="Of equally late ranks take the lower ones, or all.")  # fmt: skip
@click.option("--exclusive", is_flag=True, help="Count as 'sometimes' only those that were not always slow.")
@click.option("--plot", type=click.Path(path_type=Path), help="Slow ranks over time, .svg or .html.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the table as CSV.")
@JSON
def inconsistency(  # noqa: PLR0917 - one parameter per option of the command
    slow: tuple[float, ...],
    ties: Any,
    exclusive: bool,
    plot: Path | None,
    out: Path | None,
    json_wanted: bool,
    **given: Any,
) -> None:
    """Are the last to reach a collective always the same ranks, and how quickly does the set of them change?

    A row for each share of slow ranks (ceil(share R) of R, by default the last 5 % and 50 %), and one for critical
    ranks: how many (setting, rank) were always or sometimes (which includes always) among them; how much of a set is
    left 1, 2, 5, 10, 20, 50, 100 collectives later, against chance.

    \b
    Example:
      modescope criticality inconsistency trace.csv --slow 0.05,0.5 --plot slow.svg
      modescope campaign export 3 --out runs.csv
      modescope criticality inconsistency runs.csv --rank node --in-order --throughput throughput_kbps \\
        --setting threads,file_size_kb,record_size_kb,mode --work threads,file_size_kb --bound-ms 0 --from-ms 0
    """
    from analysis import criticality as c
    from orchestrator import traces

    for path in (plot, out):
        if path is not None:
            check_writable(path)
    if traces.is_log(given["file"]):
        told.imbalance_of_log(given["file"], json_wanted=json_wanted)
        return
    trace, _ = trace_of(given, with_counters=False)
    rule = rule_of(given)
    sets = {f"last {share:.3g}": c.slow_sets(trace, share, ties=ties) for share in slow}
    found = {name: c.of_sets(trace, members) for name, members in sets.items()}
    labelled = c.reaches(trace.imbalance_s, rule.evaluated_s)
    if labelled.any():
        found["critical"] = c.of_sets(trace, c.critical(trace, rule), labelled)
    rows = [told.inconsistency_row(name, one, exclusive=exclusive) for name, one in found.items()]
    if plot is not None:
        told.plot(plot, trace, next(iter(sets.values())), f"The last {100 * slow[0]:g} % of ranks to arrive")
    if out is not None:
        _write(out, list(rows[0]), [list(row.values()) for row in rows])
    if json_wanted:
        as_json({**told.overview(trace, rule), "sets": rows})
    else:
        told.print_inconsistency(trace, rule, rows)


@criticality.command()
@chosen(INPUT, LEARNING, JUDGING)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Write the model here (JSON).")
@JSON
def train(out: Path, json_wanted: bool, **given: Any) -> None:
    """Train a model from everything in FILE, and tell what such a model is worth on samples held back.

    The model is a small file; `predict` and agents evaluate it without any library of learning.

    \b
    Example:
      modescope criticality train trace.csv --split time --out model.json
    """
    from analysis import criticality as c

    check_writable(out)
    trace, samples = trace_of(given, with_counters=True)
    options, examples = prepared(trace, samples, given)
    evaluation = evaluation_of(trace, examples, options, given, update=False)
    trained = c.train(examples, examples.imbalance_s >= 0, options)
    auc = evaluation.held_back.auc
    worth: dict[str, float | str | None] = {
        "auc": None if auc is None else auc.value,
        "auc_low": None if auc is None else auc.low,
        "auc_high": None if auc is None else auc.high,
        "verdict": evaluation.held_back.verdict,
        "split": str(given["split"]),
    }
    model = c.exported(
        trained,
        examples,
        trace.settings,
        options=options,
        window_s=given["window_ms"] / 1000,
        drift=drift_of(given),
        told=worth,
    )
    write_whole(out, [model.to_json().encode()])
    _tell(trace, examples, evaluation, options, json_wanted=json_wanted)


@criticality.command()
@chosen(INPUT, LEARNING, JUDGING)
@click.option("--update", is_flag=True, help="Also update the model after each labelled round.")
@click.option("--model", type=click.Path(path_type=Path), help="Judge this model instead of training one.")
@JSON
def evaluate(update: bool, model: Path | None, json_wanted: bool, **given: Any) -> None:
    """How well can it be told which ranks are critical? Train on a part of FILE, judge by the rest.

    Tells AUC with a 95 % interval (by whole collectives), balanced accuracy, calibration, the paper's accuracy beside
    the majority class by range of imbalance, precision and recall of the sets named, the information gain of each
    counter, and what boosted trees and earlier labels alone would make of it.

    \b
    Example:
      modescope criticality evaluate trace.csv --split time --learn-share 0.6
      modescope criticality evaluate runs.csv --rank host --collective iter --setting freq,test \\
        --throughput throughput --work threads,fsize --bound-ms 0 --from-ms 0 --split time --learn-share 0.6
    """
    trace, samples = trace_of(given, with_counters=True)
    if model is not None:
        _judge(trace, samples, model_in(model), given, json_wanted=json_wanted)
        return
    options, examples = prepared(trace, samples, given)
    evaluation = evaluation_of(trace, examples, options, given, update=update)
    _tell(trace, examples, evaluation, options, json_wanted=json_wanted)


@criticality.command()
@chosen(INPUT)
@click.option("--model", type=click.Path(path_type=Path), required=True, help="Written by `train`.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the CSV here.  [default: stdout]")
@JSON
def predict(model: Path, out: Path | None, json_wanted: bool, **given: Any) -> None:
    """Name the critical ranks of each collective by a model.

    A row for each rank and collective: setting, collective, rank, chance (of being critical), critical (1: named),
    and, where the imbalance is large enough for a label, label. Settings that the model does not know are standardised
    by their own samples in FILE.

    \b
    Example:
      modescope criticality predict new.csv --model model.json --out named.csv
    """
    from analysis import criticality as c

    if out is not None:
        check_writable(out)
    read = model_in(model)
    trace, samples = trace_of({**given, "counters": counters_of(read)}, with_counters=True)
    examples = examples_for(trace, samples, read, rule_of(given))
    cells = c.pooled(
        examples, examples.imbalance_s >= 0, c.applied(read, examples, trace.settings), examples.collective
    )
    labelled = c.reaches(cells.imbalance_s, given["from_ms"] / 1000)
    columns = ["setting", "collective", "rank", "chance", "critical", "label"]
    rows = [
        [
            trace.settings[int(trace.setting_of[k])],
            trace.collectives[k],
            trace.ranks[r],
            round(chance, 6),
            int(read.is_critical(chance)),
            int(label) if has_label else None,
        ]
        for k, r, chance, label, has_label in zip(
            cells.collective.tolist(), cells.rank.tolist(), cells.chance.tolist(), cells.critical.tolist(),
            labelled.tolist(), strict=True,
        )
    ]  # fmt: skip
    told.excluded(examples)
    if json_wanted:
        as_json({"rows": [dict(zip(columns, row, strict=True)) for row in rows], "excluded_periods": examples.excluded})
    if out is not None or not json_wanted:
        _write(out, columns, rows)


def _tell(trace: Trace, examples: Examples, evaluation: Any, options: Options, *, json_wanted: bool) -> None:
    if json_wanted:
        as_json({**told.overview(trace, options.rule), **told.evaluated(evaluation, examples)})
    else:
        told.print_evaluation(trace, options, examples, evaluation)


def _judge(trace: Trace, samples: Samples | None, model: Model, given: Given, *, json_wanted: bool) -> None:
    from analysis import criticality as c

    rule = rule_of(given)
    if samples is not None:
        missing = [name for name in counters_of(model) if name not in samples.names]
        if missing:
            raise TableError(f"{given['file']}: the model needs a column {missing[0]!r}, which is not there")
        samples = samples.only(counters_of(model))
    examples = examples_for(trace, samples, model, rule)
    rows = examples.labelled(rule.bound_s)
    if not rows.any():
        raise TableError(f"{given['file']}: no collective reaches an imbalance of {given['bound_ms']:g} ms")
    chance = c.applied(model, examples, trace.settings)[rows]
    found = c.quality(c.pooled(examples, rows, chance, examples.collective[rows]), model.threshold)
    if json_wanted:
        as_json({**told.overview(trace, rule), "held_back": told.quality(found)})
    else:
        told.print_quality("this model", found)


def _write(path: Path | None, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(["" if cell is None else cell for cell in row] for row in rows)
    if path is None:
        click.echo(text.getvalue(), nl=False)
    else:
        write_whole(path, [text.getvalue().encode()])
