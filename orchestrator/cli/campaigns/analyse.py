"""`modescope campaign analyse`: the versions of a campaign's analysis."""

from __future__ import annotations

from collections.abc import Sequence

import click

from orchestrator.cli import endpoint, printing
from orchestrator.cli.endpoint import Service
from orchestrator.contracts.analyses import AnalysisVersion
from orchestrator.contracts.errors import RequestError


@click.command()
@click.argument("campaign_id", metavar="ID", type=click.IntRange(min=1))
@click.option("--set", "changes", multiple=True, metavar="OPTION=VALUE", help="Change this option of the analysis.")
@click.option("--why", help="The reason; it is kept and shown with the version.")
@click.option("--version", "number", type=click.IntRange(min=1), help="Show this version again.")
@endpoint.service
def analyse(
    *, campaign_id: int, changes: tuple[str, ...], why: str | None, number: int | None, service: Service, as_json: bool
) -> None:
    """Analyse a campaign that has ended with other options, as an exploratory version; without any, list versions.

    What was submitted is version 1. Fits of one version never change another's, and a campaign shows one at a time.

    Example: modescope campaign analyse 3 --set max_components=3 --why "five overfit the small files"
    """
    if number is not None and changes:
        raise click.UsageError("--version shows a version that there is; --set makes a new one.")
    if changes and why is None:
        raise click.UsageError("say --why: it is kept with the version.")
    with service() as client:
        if changes:
            client.change_analysis(campaign_id, dict(map(_change, changes)), why or "")
        elif number is not None:
            client.show_analysis(campaign_id, number)
        found = client.analysis_versions(campaign_id)
    if as_json:
        printing.as_json(found)
        return
    _say(found)
    if changes or number is not None:
        click.echo(f"Fitted as fast as can be; `modescope campaign watch {campaign_id}` waits for final verdicts.")


def _say(found: Sequence[AnalysisVersion]) -> None:
    from orchestrator import words

    for one in found:
        click.echo(f"{'*' if one.shown else ' '} {words.analysis_version(one)}")


def _change(text: str) -> tuple[str, object]:
    """`max_components=3`, `families=normal,gamma`."""
    from orchestrator.campaigns.reanalysis import as_value

    name, sign, value = text.partition("=")
    if not (name and sign and value):
        raise RequestError(f"{text!r}: write --set OPTION=VALUE, as in --set max_components=3")
    return name, as_value(name, value)
