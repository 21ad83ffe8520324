"""`modescope logs`: join the logs of jobs, and predict the throughput of a job before it runs."""

from __future__ import annotations

from datetime import tzinfo
from pathlib import Path

import click

from orchestrator.cli import ledger, printing
from orchestrator.cli.ledger import Found
from orchestrator.contracts.errors import TableError

PROCEDURES = ("both", "paper", "best")
CLASSES = ("none", "intensity", "program")


def _names(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(name.strip() for name in value.split(","))


def _share(_context: click.Context, _parameter: click.Parameter, value: float) -> float:
    if not 0 < value < 1:
        raise click.BadParameter("a share between 0 and 1 is needed, as in 0.6")
    return value


def _mounts(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    pairs = [value.partition("=") for value in values]
    if any(not mount or not name for mount, _, name in pairs):
        raise click.BadParameter("as in /scratch2=snx11035")
    return {mount: name for mount, _, name in pairs}


def _zone(_context: click.Context, _parameter: click.Parameter, value: str) -> tzinfo:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise click.BadParameter(f"there is no time zone {value!r}: as in America/Los_Angeles") from error


@click.group(no_args_is_help=True)
def logs() -> None:
    """Join the logs of jobs, and predict the throughput of a job before it runs."""


@logs.command()
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--target", help="Column of the throughput.  [default: darshan_agg_perf_by_slowest_posix or Throughput]")
@click.option("--time", help="Column of the start.  [default: darshan_start_time or StartTime]")
@click.option("--end", help="Column of the end.  [default: --time's name with end for start; start + walltime]")
@click.option("--key", callback=_names, help="Columns, comma-separated, coarse to fine.  [default: see below]")
@click.option("--procedure", type=click.Choice(PROCEDURES), default="both", show_default=True, help="Which models.")
@click.option("--train-share", type=float, callback=_share, default=0.6, show_default=True, help="First, by time.")
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
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of everything random.")
@click.option("--processes", type=click.IntRange(1), default=2, show_default=True, help="Threads to learn with.")
@click.option("--out", type=click.Path(path_type=Path), help="Write every tested job's predictions here (CSV).")
@click.option("--json", "json_wanted", is_flag=True, help="{direction: {file_system: {model: {r2, ...}}}}")
def evaluate(  # noqa: PLR0917 - one parameter per option of the command
    table: Path,
    target: str | None,
    time: str | None,
    end: str | None,
    key: tuple[str, ...] | None,
    procedure: str,
    train_share: float,
    select: str,
    classes: str,
    seed: int,
    processes: int,
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
    from orchestrator.job_logs import evaluating
    from orchestrator.job_logs.jobs import Columns

    columns = Columns(target=target, time=time, end=end, key=key)
    settings = evaluating.Settings(columns=columns, seed=seed, processes=processes)
    found = evaluating.evaluate_table(
        table,
        settings,
        train_share=train_share,
        with_paper=procedure != "best",
        with_trees=procedure != "paper",
        select=select,
        classes=classes,
        report=printing.progress,
    )
    if out is not None:
        evaluating.write_predictions(found, out)
    if json_wanted:
        printing.as_json(evaluating.told(found))
    else:
        printing.console().print(evaluating.as_table(found))
        for line in evaluating.sentences(found):
            click.echo(line)


@logs.command()
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--jobs", type=click.Path(path_type=Path), help="The jobs asked about (CSV).  [default: see below]")
@click.option("--target", help="Column of the throughput.  [default: darshan_agg_perf_by_slowest_posix or Throughput]")
@click.option("--time", help="Column of the start.  [default: darshan_start_time or StartTime]")
@click.option("--end", help="Column of the end.  [default: as for `evaluate`]")
@click.option("--key", callback=_names, help="Columns, comma-separated, coarse to fine.  [default: as for `evaluate`]")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of everything random.")
@click.option("--processes", type=click.IntRange(1), default=2, show_default=True, help="Threads to learn with.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the CSV here.  [default: stdout]")
@click.option("--json", "json_wanted", is_flag=True, help="Print one line of JSON instead.")
def predict(  # noqa: PLR0917 - one parameter per option of the command
    table: Path,
    jobs: Path | None,
    target: str | None,
    time: str | None,
    end: str | None,
    key: tuple[str, ...] | None,
    seed: int,
    processes: int,
    out: Path | None,
    json_wanted: bool,
) -> None:
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
    from orchestrator.job_logs.evaluating import Settings
    from orchestrator.job_logs.jobs import Columns

    columns = Columns(target=target, time=time, end=end, key=key)
    settings = Settings(columns=columns, seed=seed, processes=processes)
    rows = predicting.predict_table(table, jobs, settings, report=printing.progress)
    if not rows:
        raise TableError(f"{jobs or table}: there is no job to predict: no row has an empty throughput and a start")
    if json_wanted:
        printing.as_json(rows)
    if out is not None or not json_wanted:
        predicting.write(rows, out)


@logs.command()
@click.option("--slurm", type=click.Path(exists=True, dir_okay=False, path_type=Path), multiple=True, help="Of sacct.")
@click.option(
    "--slurm-fields", callback=_names, help="What the columns of a dump without a header are, as in sacct -o."
)
@click.option("--darshan", type=click.Path(exists=True, path_type=Path), multiple=True, help="Folder of logs, or one.")
@click.option("--lmt", type=click.Path(exists=True, dir_okay=False, path_type=Path), multiple=True, help="See below.")
@click.option("--mount", "mounts", callback=_mounts, multiple=True, help="Mount point and LMT's name, /scratch=snx1.")
@click.option("--time-zone", "zone", callback=_zone, default="UTC", show_default=True, help="Of times without one.")
@ledger.option
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def ingest(
    *,
    slurm: tuple[Path, ...],
    slurm_fields: tuple[str, ...] | None,
    darshan: tuple[Path, ...],
    lmt: tuple[Path, ...],
    mounts: dict[str, str],
    zone: tzinfo,
    found: Found,
    as_json: bool,
) -> None:
    """Keep logs in the service's database; the same again changes nothing.

    \b
    --slurm    text of `sacct` with any separator (a header, or --slurm-fields), or `sacct --json`
    --darshan  logs that the PyDarshan wheel reads (3.x); others are reported and passed over
    --lmt      LMT's database as sqlite, TOKIO's HDF5 time series, pyLMT's h5lmt
    Options may be given several times. Executions find their job by its id, and their file system by the time in which
    they ran; the report says what matched, and what did not.

    \b
    Example:
      modescope logs ingest --slurm sacct.txt --darshan logs/ --lmt snx11035.hdf5 --mount /scratch2=snx11035
    """
    from orchestrator.job_logs import ingesting
    from orchestrator.wiring import open_store

    sources = ingesting.Sources(
        scheduler=slurm, scheduler_fields=slurm_fields, darshan=darshan, lmt=lmt, mounts=mounts, zone=zone
    )
    store = open_store(found(), keep=1)
    try:
        told = ingesting.ingest(store.job_logs, sources, report=printing.progress)
    finally:
        store.close()
    if as_json:
        printing.as_json(told)
    else:
        for line in ingesting.sentences(told):
            click.echo(line)


@logs.command()
@click.option("--campaign", type=int, help="The runs of this campaign instead, with what their nodes were like.")
@ledger.option
@click.option("--out", type=click.Path(path_type=Path), help="Write the CSV here.  [default: stdout]")
def table(*, campaign: int | None, found: Found, out: Path | None) -> None:
    """The executions in the database as a table (CSV) that `evaluate` and `predict` read.

    A row each, with their job and what the file system did meanwhile; docs/log-prediction.md names columns and units.

    \b
    Example:
      modescope logs table --out jobs.csv && modescope logs evaluate jobs.csv
    """
    from orchestrator.job_logs import campaigns, ingesting
    from orchestrator.wiring import open_store

    store = open_store(found(), keep=1)
    try:
        if campaign is None:
            text = ingesting.write_table([one.row for one in ingesting.joined(store.job_logs)], out)
        else:
            text = campaigns.write_table(store, campaign, out)
    finally:
        store.close()
    if out is None:
        click.echo(text, nl=False)


@logs.command()
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--target", help="Column of the throughput.  [default: as for `evaluate`]")
@click.option("--time", help="Column of the start.  [default: as for `evaluate`]")
@click.option("--end", help="Column of the end.  [default: as for `evaluate`]")
@click.option("--key", callback=_names, help="Columns, comma-separated, coarse to fine.  [default: as for `evaluate`]")
@click.option("--train-share", type=float, callback=_share, default=0.6, show_default=True, help="First, by time.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of everything random.")
@click.option("--processes", type=click.IntRange(1), default=2, show_default=True, help="Threads to learn with.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Write the HTML here.")
def report(
    *,
    table: Path,
    target: str | None,
    time: str | None,
    end: str | None,
    key: tuple[str, ...] | None,
    train_share: float,
    seed: int,
    processes: int,
    out: Path,
) -> None:
    """What `evaluate` finds, as one HTML page that needs nothing else.

    Predicted against measured, errors as violins, what predictions rest on (shuffled features), where not to trust
    them; correlations and clusters of jobs as in section 4 of the paper.

    \b
    Example:
      modescope logs report jobs.csv.gz --out jobs.html
    """
    from orchestrator.cli import files
    from orchestrator.job_logs import evaluating
    from orchestrator.job_logs.jobs import Columns
    from orchestrator.report import job_logs

    files.check_writable(out)
    columns = Columns(target=target, time=time, end=end, key=key)
    settings = evaluating.Settings(columns=columns, seed=seed, processes=processes)
    found = evaluating.evaluate_table(
        table, settings, train_share=train_share, with_paper=True, with_trees=True, select="validation",
        classes="none", report=printing.progress,
    )  # fmt: skip
    printing.progress("report: what predictions rest on, clusters")
    files.write_whole(out, [job_logs.render(found, seed=seed).encode()])
    click.echo(f"{out}: written")


@logs.command("heat-map")
@click.argument("job_id", metavar="JOB")
@ledger.option
@click.option("--around", type=click.FloatRange(0), default=300.0, show_default=True, help="Seconds before and after.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Write the HTML here.")
def heat_map(*, job_id: str, found: Found, around: float, out: Path) -> None:
    """What was written to each OST around the executions of JOB (the paper's Figure 9), from the database.

    \b
    Example:
      modescope logs heat-map 4478544 --out heat.html
    """
    from orchestrator.cli import files
    from orchestrator.job_logs import heat
    from orchestrator.wiring import open_store

    files.check_writable(out)
    store = open_store(found(), keep=1)
    try:
        text = heat.page_of(store.job_logs, job_id, around_s=around)
    finally:
        store.close()
    files.write_whole(out, [text.encode()])
    click.echo(f"{out}: written")
