"""`modescope campaign archive` and `restore`: an operator's acts on the database and this machine's disk.

They do not go through the REST interface: a service that writes to, or loads from, a folder that a client names would
lend its rights to whoever holds a token.
"""

from __future__ import annotations

from pathlib import Path

import click

from orchestrator.cli import printing
from orchestrator.cli.service import ledger
from orchestrator.cli.service.ledger import Found

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


@click.command()
@click.argument("campaign_id", metavar="ID", type=click.IntRange(min=1))
@click.option(
    "--to",
    type=click.Path(file_okay=False, path_type=Path),
    help="Parent of the folder campaign-ID; default: archives in the home.",
)
@ledger.option
@json_option
def archive(*, campaign_id: int, to: Path | None, found: Found, as_json: bool) -> None:
    """Move an ended campaign's rows into Parquet files, verified; it stays listed.

    Works on the database itself, on the machine whose disk takes the files. Again after an interruption, it goes on.

    Example: modescope campaign archive 3 --to /srv/archives
    """
    from orchestrator import archive as archives

    settings = found()
    place, described = archives.create(
        settings.database_url, campaign_id, to or settings.home / "archives", progress=printing.progress
    )
    rows = sum(part.rows for part in described.moved.values())
    size = sum(file.stat().st_size for file in place.iterdir())
    if as_json:
        printing.as_json({"folder": str(place), "rows": rows, "bytes": size})
    else:
        click.echo(f"Archived campaign {campaign_id}: {rows:,} rows in {place} ({size / 1e6:.1f} MB).")


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@ledger.option
@json_option
def restore(*, folder: Path, found: Found, as_json: bool) -> None:
    """Bring an archived campaign's rows back into the database they came from.

    Example: modescope campaign restore /srv/archives/campaign-3
    """
    from orchestrator import archive as archives

    described = archives.restore(found().database_url, folder.absolute(), progress=printing.progress)
    rows = sum(part.rows for part in described.moved.values())
    if as_json:
        printing.as_json({"campaign": described.campaign_id, "rows": rows})
    else:
        click.echo(f"Restored campaign {described.campaign_id}: {rows:,} rows. Its archive stays in {folder}.")
