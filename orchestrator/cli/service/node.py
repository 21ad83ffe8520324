"""`modescope node`: the machines that do the work."""

from __future__ import annotations

import click

from orchestrator.cli import endpoint, printing
from orchestrator.cli.commands import EntryPointGroup
from orchestrator.cli.endpoint import Service

COMMAND_GROUP = "modescope.node_commands"

# What concerns this machine and not the service is brought by `workers`.
SHORT_HELPS = {
    "check": "Say what stands in the way of measuring well here, and of what STUDY asks for.",
    "drain": "Give a node no more work; it ends the job it holds.",
    "facts": "Show everything about this machine that a measurement may depend on.",
    "list": "List nodes with their state, rate, engines and current job.",
    "prepare": "Put this machine into the state that STUDY asks for.",
    "reinstate": "Let a quarantined or draining node work again.",
    "restore": "Put back what was found before this machine was prepared.",
}


@click.group(cls=EntryPointGroup, found_in=COMMAND_GROUP, short_helps=SHORT_HELPS)
def node() -> None:
    """Show nodes and let them back to work; check and prepare this machine."""


@node.command("list")
@endpoint.service
def list_(*, service: Service, as_json: bool) -> None:
    """List nodes with their state, rate, engines and current job.

    Example: modescope node list
    """
    from orchestrator.cli import tables

    with service() as client:
        found, rates = client.nodes(), client.rates()
    if as_json:
        printing.as_json(found)
    elif found:
        printing.console().print(tables.of_nodes(found, rates))
    else:
        click.echo("No node has reported yet; start one with `modescope agent --node NAME`.")


@node.command()
@click.argument("name")
@endpoint.service
def drain(*, name: str, service: Service, as_json: bool) -> None:
    """Give a node no more work; it ends the job it holds.

    Example: modescope node drain node-1
    """
    with service() as client:
        drained = client.drain(name)
    if as_json:
        printing.as_json(drained)
    else:
        click.echo(f"{drained.name} gets no more work; `modescope node reinstate {drained.name}` lets it back.")


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
