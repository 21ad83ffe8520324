"""`modescope campaign canaries`: do nodes measure the same, and does it stay the same?"""

from __future__ import annotations

from datetime import UTC, datetime

import click

from orchestrator.cli import endpoint, printing
from orchestrator.cli.endpoint import Service
from orchestrator.contracts.canaries import CanaryReport, NodeCanaries


@click.command()
@click.argument("campaign_id", metavar="ID", type=click.IntRange(min=1))
@endpoint.service
def canaries(*, campaign_id: int, service: Service, as_json: bool) -> None:
    """Compare the nodes of a campaign by its canaries: equivalence, changes of level, and what might be left out.

    Equivalent: the 90 % interval of a node's difference from the others lies within the study's margin.

    Example: modescope campaign canaries 3
    """
    with service() as client:
        found = client.canaries(campaign_id)
    if as_json:
        printing.as_json(found)
        return
    _tell(found)


def _tell(found: CanaryReport) -> None:
    from orchestrator import words

    watched = f"{words.counted(len(found.settings), 'setting')} in {words.counted(len(found.modes), 'mode')}"
    click.echo(f"By {watched}; margin {100 * found.margin:g} %.")
    width = max(len(one.node) for one in found.nodes)
    for one in found.nodes:
        click.echo(
            f"{one.node:<{width}}  {one.standing:<10}  {_difference(one)}, {one.runs} runs in {one.visits} visits"
        )
        for change in one.changes:
            since = datetime.fromtimestamp(change.since, UTC).strftime("%Y-%m-%d %H:%M UTC")
            click.echo(f"{'':<{width}}  {100 * change.change:+.1f} % since {since}")
    for proposal in found.proposals:
        click.echo(f"Proposed: {proposal}.")


def _difference(one: NodeCanaries) -> str:
    if one.low is None or one.high is None:
        return "no other node"
    return f"{100 * one.difference:+.1f} % ({100 * one.low:+.1f} to {100 * one.high:+.1f})"
