"""`modescope import`: an operator's act on the database, which takes results in that were measured elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator.cli import printing
from orchestrator.cli.service import ledger
from orchestrator.cli.service.ledger import Found

if TYPE_CHECKING:
    from orchestrator.imports.recording import Wanted


@click.command("import")
@click.argument("source", metavar="FILE|FOLDER|BUNDLE", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--mapping",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="YAML: which column is what (docs/importing.md). Default: columns are called as in an export.",
)
@click.option("--name", help="The campaign's; default: of the mapping, or the file.")
@click.option("--dry-run", is_flag=True, help="Say what would be stored, and what is skipped and why; store nothing.")
@ledger.option
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def import_(
    *, source: Path, mapping: Path | None, name: str | None, dry_run: bool, found: Found, as_json: bool
) -> None:
    """Make a campaign of results that were measured elsewhere; twice is once.

    FILE: CSV, wide or long, plain or .gz. FOLDER: what IOzone 3.x printed, or fio's JSON. BUNDLE: a .zip of
    `modescope campaign export ID --format bundle`. The analysis worker then fits and judges as ever.

    \b
    Examples:
      modescope import runs.csv.gz --mapping mapping.yaml --dry-run
      modescope import iozone-outputs/ --mapping mapping.yaml --home /srv/modescope
      modescope import campaign-3.zip
    """
    from orchestrator.imports import reading, report

    wanted, skipped = reading.read(source, mapping, name)
    told = report.of(wanted, skipped)
    if dry_run:
        _tell(told, as_json=as_json)
        return
    _store(found, wanted, told, as_json=as_json)


def _store(found: Found, wanted: Wanted, told: dict[str, object], *, as_json: bool) -> None:
    from orchestrator.contracts.access import from_here
    from orchestrator.imports import recording
    from orchestrator.wiring import open_store

    store = open_store(found(), keep=1)
    try:
        campaign, new = recording.record(store.on_behalf_of(from_here()), wanted, progress=_progress)
    finally:
        store.close()
    _tell({**told, "campaign": campaign.id, "new": new}, as_json=as_json)


def _progress(runs: int) -> None:
    if runs % 100_000 == 0:
        printing.progress(f"{runs:,} runs recorded")


def _tell(told: dict[str, object], *, as_json: bool) -> None:
    from orchestrator.imports import report

    if as_json:
        printing.as_json(told)
    else:
        click.echo(report.text(told))
