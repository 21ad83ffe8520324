"""`modescope criticality`: which ranks hold everybody up, whether it is always the same, and what tells beforehand."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orchestrator.cli import criticality_told as told
from orchestrator.cli.criticality_input import Columns
from orchestrator.cli.files import check_writable, write_whole
from orchestrator.cli.printing import as_json
from orchestrator.contracts.errors import TableError, UserError

if TYPE_CHECKING:
    from analysis.criticality import Examples, Model, Options, Rule, Samples, Trace


def _names(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(name.strip() for name in value.split(",") if name.strip())


def _shares(_context: click.Context, _parameter: click.Parameter, value: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in value.split(","))
    except ValueError as error:
        raise click.BadParameter("shares are numbers, as in 0.05,0.5") from error


INPUT = (
    click.argument("file", type=click.Path(path_type=Path)),
    click.option("--collective", callback=_names, help="Columns that name a collective.  [default: collective]"),
    click.option("--rank", default="rank", show_default=True, help="Column that names a rank."),
    click.option("--setting", callback=_names, help="Columns of the setting.  [default: setting, application]"),
    click.option("--throughput", help="Instead of a time: a column of throughputs; a round took --work / throughput."),
    click.option("--work", callback=_names, default="", help="Columns whose product is the work, as in threads,fsize."),
    click.option("--consecutive", type=click.IntRange(2), help="So many consecutive --rank values are one collective."),
    click.option("--in-order", is_flag=True, help="The k-th valid row of a rank in a setting is its round k."),
    click.option("--share", type=float, default=0.25, show_default=True, help="Critical: slack < SHARE x imbalance."),
    click.option("--bound-ms", type=float, default=10.0, show_default=True, help="Learn from this imbalance on."),
    click.option("--from-ms", type=float, default=5.0, show_default=True, help="Label from this imbalance on."),
)
LEARNING = (
    click.option("--counters", callback=_names, help="Columns of counters; '' for none.  [default: all other numbers]"),
    click.option("--window-ms", type=float, default=5.0, show_default=True, help="Pool what is read in it."),
    click.option("--history/--no-history", default=None, help="Rates of earlier rounds.  [default: without counters]"),
    click.option("--own-time", is_flag=True, help="Also the rank's own time, which it knows when it is there."),
    click.option("--drift", type=click.IntRange(0), help="Take off the mean of so many samples around each."
                 "  [default: 2 N - 1 with --consecutive N, else none]"),
    click.option("--per-setting", is_flag=True, help="A model for each setting instead of one for all."),
    click.option("--standard", type=click.Choice(["setting", "all"]), default="setting", show_default=True,
                 help="Standardise counters by each setting's own unlabelled runs, or by all."),
    click.option("--ridge", type=float, default=10.0, show_default=True, help="Penalty of the logistic regression."),
    click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of splits and resamples."),
)  # fmt: skip
JUDGING = (
    click.option("--split", type=click.Choice(["collective", "setting", "time", "sample"]), default="collective",
                 show_default=True, help="What stays on one side (sample flatters)."),
    click.option("--learn-share", type=click.FloatRange(0.01, 0.99), default=0.75, show_default=True),
    click.option("--folds", type=click.IntRange(0), default=10, show_default=True, help="Of the cross-validation."),
    click.option("--boosted/--no-boosted", default=True, show_default=True, help="Boosted trees as a yardstick."),
)  # fmt: skip
JSON = click.option("--json", "json_wanted", is_flag=True, help="Print one line of JSON.")


def _with(*options: Iterable[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """One decorator of many."""

    def decorated(command: Any) -> Any:
        for option in reversed([one for group in options for one in group]):
            command = option(command)
        return command

    return decorated


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
@_with(INPUT)
@click.option("--slow", callback=_shares, default="0.05,0.5", show_default=True, help="Shares of slow ranks.")
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
    trace, _ = _trace(given, with_counters=False)
    rule = _rule(given)
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
@_with(INPUT, LEARNING, JUDGING)
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
    trace, samples = _trace(given, with_counters=True)
    options, examples = _prepared(trace, samples, given)
    evaluation = _evaluation(trace, examples, options, given, update=False)
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
        drift=_drift(given),
        told=worth,
    )
    write_whole(out, [model.to_json().encode()])
    _tell(trace, examples, evaluation, options, json_wanted=json_wanted)


@criticality.command()
@_with(INPUT, LEARNING, JUDGING)
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
    trace, samples = _trace(given, with_counters=True)
    if model is not None:
        _judge(trace, samples, _model(model), given, json_wanted=json_wanted)
        return
    options, examples = _prepared(trace, samples, given)
    evaluation = _evaluation(trace, examples, options, given, update=update)
    _tell(trace, examples, evaluation, options, json_wanted=json_wanted)


@criticality.command()
@_with(INPUT)
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
    read = _model(model)
    trace, samples = _trace({**given, "counters": _counters_of(read)}, with_counters=True)
    examples = _for_model(trace, samples, read, _rule(given))
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


def _trace(given: dict[str, Any], *, with_counters: bool) -> tuple[Trace, Samples | None]:
    """The file, as a table or as a trace. Raises UserError."""
    from analysis.errors import AnalysisError
    from orchestrator import traces
    from orchestrator.cli.criticality_input import read

    path: Path = given["file"]
    if traces.is_log(path):
        raise TableError(f"{path}: a Darshan log holds totals of each rank and no single collective: use inconsistency")
    if traces.is_trace(path):
        return told.imported(path), None
    columns = Columns(
        collective=given["collective"],
        rank=given["rank"],
        setting=given["setting"],
        throughput=given["throughput"],
        work=given["work"] or (),
        consecutive=given["consecutive"],
        in_order=given["in_order"],
        counters=given.get("counters"),
    )
    try:
        return read(path, columns, with_counters=with_counters)
    except AnalysisError as error:
        raise TableError(f"{path}: {error}") from error


def _rule(given: dict[str, Any]) -> Rule:
    from analysis.criticality import Rule

    return Rule(share=given["share"], bound_s=given["bound_ms"] / 1000, evaluated_s=given["from_ms"] / 1000)


def _prepared(trace: Trace, samples: Samples | None, given: dict[str, Any]) -> tuple[Options, Examples]:
    from analysis import criticality as c

    with_history = given["history"] if given["history"] is not None else samples is None
    options = c.Options(
        rule=_rule(given),
        per_setting=given["per_setting"],
        standard=given["standard"],
        ridge=given["ridge"],
        seed=given["seed"],
    )
    examples = c.prepare(
        trace,
        samples,
        options.rule,
        window_s=given["window_ms"] / 1000,
        with_history=with_history,
        with_own_time=given["own_time"],
        drift=_drift(given),
    )
    return options, examples


def _drift(given: dict[str, Any]) -> int:
    """Consecutive runs that could be in one round all tell what is usual just now."""
    if given["drift"] is not None:
        return int(given["drift"])
    return 0 if given["consecutive"] is None else 2 * int(given["consecutive"]) - 1


def _evaluation(trace: Trace, examples: Examples, options: Options, given: dict[str, Any], *, update: bool) -> Any:
    from analysis import criticality as c

    plan = c.Plan(
        split=given["split"],
        share=given["learn_share"],
        folds=given["folds"],
        update=update,
        boosted=given["boosted"],
    )
    try:
        return c.evaluate(trace, examples, options, plan)
    except ImportError as error:
        raise UserError(
            "boosted trees need the extra `learning` (pip install 'modescope[learning]'); --no-boosted does without"
        ) from error


def _tell(trace: Trace, examples: Examples, evaluation: Any, options: Options, *, json_wanted: bool) -> None:
    if json_wanted:
        as_json({**told.overview(trace, options.rule), **told.evaluated(evaluation, examples)})
    else:
        told.print_evaluation(trace, options, examples, evaluation)


def _model(path: Path) -> Model:
    from analysis.criticality import BadModelError, from_json

    try:
        return from_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    except BadModelError as error:
        raise UserError(f"{path}: {error}") from error


def _counters_of(model: Model) -> tuple[str, ...]:
    from analysis.criticality import OWN_TIME

    return tuple(name for name in model.features[: model.counters] if name != OWN_TIME)


def _for_model(trace: Trace, samples: Samples | None, model: Model, rule: Rule) -> Examples:
    """The features that the model wants, in its order."""
    from analysis import criticality as c

    return c.prepare(
        trace,
        samples,
        rule,
        window_s=model.window_s,
        with_history=len(model.features) > model.counters,
        with_own_time=c.OWN_TIME in model.features,
        drift=model.drift,
    )


def _judge(trace: Trace, samples: Samples | None, model: Model, given: dict[str, Any], *, json_wanted: bool) -> None:
    from analysis import criticality as c

    rule = _rule(given)
    if samples is not None:
        missing = [name for name in _counters_of(model) if name not in samples.names]
        if missing:
            raise TableError(f"{given['file']}: the model needs a column {missing[0]!r}, which is not there")
        samples = samples.only(_counters_of(model))
    examples = _for_model(trace, samples, model, rule)
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
