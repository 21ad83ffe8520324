"""`modescope db`: the database's schema."""

from __future__ import annotations

import click


@click.group()
def db() -> None:
    """Create or upgrade the database's schema."""


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
