"""`modescope db`: the database's schema, and its backup."""

from __future__ import annotations

from pathlib import Path

import click

from orchestrator.cli.service import ledger
from orchestrator.cli.service.ledger import Found


@click.group()
def db() -> None:
    """Create, upgrade, dump and restore the database."""


@db.command()
def upgrade() -> None:
    """Bring the schema of MODESCOPE_DATABASE_URL to the newest version.

    Example: MODESCOPE_DATABASE_URL=postgresql://modescope@db/modescope modescope db upgrade
    """
    from orchestrator.settings import database_url_from
    from orchestrator.store import schema

    address = database_url_from()
    schema.upgrade(address)
    found, _newest = schema.current(address)
    click.echo(f"schema {found}")


@db.command()
def current() -> None:
    """Print the schema's version; exit status 2 unless it is the newest."""
    from orchestrator.settings import database_url_from
    from orchestrator.store import schema

    address = database_url_from()
    schema.require_current(address)
    found, _newest = schema.current(address)
    click.echo(f"schema {found}")


@db.command()
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The file to write.")
@ledger.option
def dump(*, out: Path, found: Found) -> None:
    """Write the whole database into one file, while the service goes on.

    Example: modescope db dump --out ledger.dump
    """
    from orchestrator import backup

    backup.dump(found().database_url, out)
    click.echo(f"Wrote {out} ({out.stat().st_size / 1e6:.1f} MB).")


@db.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@ledger.option
def restore(*, file: Path, found: Found) -> None:
    """Fill a database that holds no campaign from a file of `dump`; stop agents and controllers before.

    Example: modescope db restore ledger.dump --home /srv/modescope
    """
    from orchestrator import backup

    backup.restore(found().database_url, file)
    click.echo("Restored. Start the controllers, then restart every agent: runs in their spools come home.")
