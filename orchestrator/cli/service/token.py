"""`modescope token`: who may use the service, and for what."""

from __future__ import annotations

import click

from orchestrator.cli import endpoint, printing
from orchestrator.cli.endpoint import Service
from orchestrator.contracts.access import Scope

SCOPES = [str(scope) for scope in Scope]


@click.group()
def token() -> None:
    """Make, list and revoke the tokens that open the service."""


@token.command()
@click.option("--name", required=True, help="Whose it is; the audit log uses this name.")
@click.option("--scopes", default="read", show_default=True, help=f"Comma-separated: {', '.join(SCOPES)}.")
@click.option("--days", type=click.IntRange(1, 3650), default=90, show_default=True, help="How long it is in force.")
@click.option("--until-revoked", is_flag=True, help="Instead of --days: in force until somebody revokes it.")
@endpoint.service
def create(*, name: str, scopes: str, days: int, until_revoked: bool, service: Service, as_json: bool) -> None:
    """Make a token and print it once. Wants an administrator's token.

    Example: modescope token create --name ada --scopes read,submit --days 30
    """
    wanted = _scopes(scopes)
    with service() as client:
        made = client.create_token(name, wanted, days=None if until_revoked else days)
    if as_json:
        printing.as_json(made)
    else:
        click.echo(made.secret)
        printing.progress("This is the only time it is shown.")


@token.command("list")
@endpoint.service
def list_(*, service: Service, as_json: bool) -> None:
    """List tokens, newest first, also those that are revoked or have expired.

    Example: modescope token list
    """
    from orchestrator.cli import tables

    with service() as client:
        found = client.tokens()
    if as_json:
        printing.as_json(found)
    else:
        printing.console().print(tables.of_tokens(found))


@token.command()
@click.argument("token_id", type=click.IntRange(min=1), metavar="ID")
@endpoint.service
def revoke(*, token_id: int, service: Service, as_json: bool) -> None:
    """End a token and every sign-in that stands on it.

    Example: modescope token revoke 3
    """
    with service() as client:
        ended = client.revoke_token(token_id)
    if as_json:
        printing.as_json(ended)
    else:
        click.echo(f"token {ended.id} ({ended.name}) is revoked")


@token.command()
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="How many lines.")
@endpoint.service
def audit(*, limit: int, service: Service, as_json: bool) -> None:
    """Show who changed what, when and from where, newest first.

    Example: modescope token audit --limit 10
    """
    from orchestrator.cli import tables

    with service() as client:
        lines = client.audited(limit=limit)
    if as_json:
        printing.as_json(lines)
    else:
        printing.console().print(tables.of_audit(lines))


def _scopes(text: str) -> tuple[Scope, ...]:
    named = [part.strip() for part in text.split(",") if part.strip()]
    unknown = [name for name in named if name not in SCOPES]
    if unknown or not named:
        raise click.BadParameter(f"{text!r}: choose from {', '.join(SCOPES)}", param_hint="--scopes")
    return tuple(Scope(name) for name in dict.fromkeys(named))
