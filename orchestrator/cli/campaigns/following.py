"""What a verb says of a campaign, and following it to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from orchestrator.cli import printing

if TYPE_CHECKING:
    from orchestrator.client import Client
    from orchestrator.contracts.campaigns import Campaign


def tell_of(client: Client, found: Campaign, *, as_json: bool, verb: str, watched: bool = False) -> None:
    """Say what became of the campaign; with `watched`, follow it to its end instead of printing JSON now."""
    from orchestrator import words

    if as_json and not watched:
        printing.as_json(found)
    elif not as_json:
        amount = f"{words.counted(found.configurations, 'configuration')}, {words.counted(found.expected_runs, 'run')}"
        click.echo(f"Campaign {found.id} {found.name!r} is {verb}: {amount}.")
    if watched:
        follow(client, found.id, as_json=as_json)


def follow(client: Client, campaign_id: int, *, as_json: bool) -> None:
    """Watch it to its end and say how it ended; exit status 1 when it is incomplete."""
    from orchestrator import words
    from orchestrator.cli.campaigns import watch as watching
    from orchestrator.contracts.campaigns import EventKind, State

    try:
        progress = watching.watch(client, campaign_id, None if as_json else printing.console())
    except KeyboardInterrupt:
        click.echo(f"The campaign goes on; `modescope campaign watch {campaign_id}` shows it again.", err=True)
        raise
    if as_json:
        printing.as_json(progress)
    else:
        click.echo(words.outcome(progress))
        for event in reversed(client.events(campaign_id)):
            if event.kind is EventKind.NODE_CRITICAL:
                click.echo(event.message)
        if progress.campaign.archive is None:
            for sentence in words.growth(client.growth(progress.campaign)):
                click.echo(sentence)
    if progress.campaign.state is State.INCOMPLETE:
        click.get_current_context().exit(1)
