"""`modescope logs ingest`, `table` and `heat-map`: logs into the service's database, and what they tell together."""

from __future__ import annotations

from datetime import tzinfo
from pathlib import Path

import click

from orchestrator.cli import printing
from orchestrator.cli.logs import options
from orchestrator.cli.service import ledger
from orchestrator.cli.service.ledger import Found


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


@click.command()
@click.option("--slurm", type=click.Path(exists=True, dir_okay=False, path_type=Path), multiple=True, help="Of sacct.")
@click.option(
    "--slurm-fields", callback=options.names, help="What the columns of a dump without a header are, as in sacct -o."
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


@click.command()
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


@click.command("heat-map")
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
