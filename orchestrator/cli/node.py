"""`modescope node`: the machines that do the work."""

from __future__ import annotations

import click

from orchestrator.cli import endpoint, printing
from orchestrator.cli.endpoint import Service


@click.group()
def node() -> None:
    """Show nodes, and let them back to work."""


@node.command("list")
@endpoint.service
def list_(*, service: Service, as_json: bool) -> None:
    """List nodes with their state, engines and current job.

    Example: modescope node list
    """
    from orchestrator.cli import tables

    with service() as client:
        found = client.nodes()
    if as_json:
        printing.as_json(found)
    elif found:
        printing.console().print(tables.of_nodes(found))
    else:
        click.echo("No node has reported yet; start one with `modescope agent --node NAME`.")


@node.command()
@click.argument("name")
@endpoint.service
def reinstate(*, name: str, service: Service, as_json: bool) -> None:
    """Let a quarantined or draining node work again.

    Example: modescope node reinstate node-1
    """
    with service() as client:
        back = client.reinstate(name)
    if as_json:
        printing.as_json(back)
    else:
        click.echo(f"Node {back.name} is {back.state}.")
