"""`modescope logs evaluate`, `predict` and `report`: a table of jobs in, scores, predictions or a page out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator.cli import printing
from orchestrator.cli.logs import options
from orchestrator.contracts.errors import TableError

if TYPE_CHECKING:
    from analysis.log_prediction.published.classes import Classes
    from analysis.log_prediction.published.procedure import Select
    from orchestrator.job_logs.evaluating import Settings

PROCEDURES = ("both", "paper", "best")
CLASSES = ("none", "intensity", "program")


@click.command()
@options.learning
@click.option("--procedure", type=click.Choice(PROCEDURES), default="both", show_default=True, help="Which models.")
@options.train_share
@click.option(
    "--select",
    type=click.Choice(["validation", "test"]),
    default="validation",
    show_default=True,
    help="Paper: choose regressors on the end of the training period; on the test, as in print (optimistic).",
)
@click.option(
    "--classes",
    type=click.Choice(CLASSES),
    default="none",
    show_default=True,
    help="Paper: models of their own for each intensity (>= 80 %, 30-80 %, below), or for each program.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write every tested job's predictions here (CSV).")
@click.option("--json", "json_wanted", is_flag=True, help="{direction: {file_system: {model: {r2, ...}}}}")
def evaluate(
    *,
    table: Path,
    settings: Settings,
    procedure: str,
    train_share: float,
    select: Select,
    classes: Classes,
    out: Path | None,
    json_wanted: bool,
) -> None:
    """Train on the first jobs of TABLE (CSV, plain or .gz; one job a row), predict the others, compare.

    Only what is known when a job starts is used: its key, process count, hour and weekday, and the outcomes of jobs
    that had ended before. A column about which nothing is known counts as known at the end of its job.

    \b
    Models:
      history    exponentially weighted mean of log throughput of the same key, half-life 5 runs
      key_mean   mean of the training jobs with the same key
      last_run   the last job of the same key
      paper      the procedure of Kim et al., HPDC 2020
      best       extra trees on what the history misses, trusted as far as they proved right in training
    The key is direction, program, layout (one shared file or one per process), partition (the process count where
    there is none) and file system; file system `all` pools them. r2 is of throughput, r2_log of its logarithm,
    within_r2 against each key's own mean; coverage90 is the share within the 90 % interval.

    \b
    Example:
      modescope logs evaluate jobs.csv.gz --target darshan_agg_perf_by_slowest_posix --time darshan_start_time
      modescope logs evaluate jobs.csv --key darshan_app,darshan_nprocs --procedure best --json
    """
    from orchestrator.cli import files
    from orchestrator.job_logs import evaluating
    from orchestrator.job_logs.table import read_jobs_table

    if out is not None:
        files.check_writable(out)
    evaluating.require_learning()
    how = evaluating.How(
        train_share=train_share,
        with_paper=procedure != "best",
        forest=0 if procedure == "paper" else None,
        select=select,
        classes=classes,
    )
    found = evaluating.evaluated(read_jobs_table(table), settings, how, report=printing.progress)
    if out is not None:
        evaluating.write_predictions(found, out)
    if json_wanted:
        printing.as_json(evaluating.told(found))
    else:
        printing.console().print(evaluating.as_table(found))
        for line in evaluating.sentences(found):
            click.echo(line)


@click.command()
@options.learning
@click.option("--jobs", type=click.Path(path_type=Path), help="The jobs asked about (CSV).  [default: see below]")
@click.option("--out", type=click.Path(path_type=Path), help="Write the CSV here.  [default: stdout]")
@click.option("--json", "json_wanted", is_flag=True, help="Print one line of JSON instead.")
def predict(*, table: Path, settings: Settings, jobs: Path | None, out: Path | None, json_wanted: bool) -> None:
    """Predict the throughput of jobs from those in TABLE (CSV, plain or .gz; one job a row).

    Asked about are the rows of --jobs, which has TABLE's columns as far as they are known before a job; without it the
    rows of TABLE whose throughput is empty. A row of the answer for each, in their order: predicted, low90, high90 (in
    the target's unit), history (the weighted mean of what the same key did), runs_before, key_parts_given_up (0: the
    whole key has run before).

    \b
    Example:
      modescope logs predict jobs.csv.gz --jobs tomorrow.csv --out predicted.csv
    """
    from orchestrator.job_logs import predicting

    rows = predicting.predict_table(table, jobs, settings, report=printing.progress)
    if not rows:
        raise TableError(f"{jobs or table}: there is no job to predict: no row has an empty throughput and a start")
    if json_wanted:
        printing.as_json(rows)
    if out is not None or not json_wanted:
        predicting.write(rows, out)


@click.command()
@options.learning
@options.train_share
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Write the HTML here.")
def report(*, table: Path, settings: Settings, train_share: float, out: Path) -> None:
    """What `evaluate` finds, as one HTML page that needs nothing else.

    Predicted against measured, errors as violins, what predictions rest on (shuffled features), where not to trust
    them; correlations and clusters of jobs as in section 4 of the paper.

    \b
    Example:
      modescope logs report jobs.csv.gz --out jobs.html
    """
    from orchestrator.cli import files
    from orchestrator.job_logs import evaluating
    from orchestrator.job_logs.table import read_jobs_table
    from orchestrator.report import job_logs

    files.check_writable(out)
    evaluating.require_learning()
    how = evaluating.How(train_share=train_share)
    found = evaluating.evaluated(read_jobs_table(table), settings, how, report=printing.progress)
    printing.progress("report: what predictions rest on, clusters")
    files.write_whole(out, [job_logs.render(found, seed=settings.seed).encode()])
    click.echo(f"{out}: written")
