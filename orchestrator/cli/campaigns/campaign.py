"""`modescope campaign`: submit studies, watch them, take their numbers home, by way of the REST interface."""

from __future__ import annotations

from pathlib import Path

import click

from orchestrator.cli import endpoint, printing
from orchestrator.cli.campaigns import again, analyse, archive, canaries
from orchestrator.cli.campaigns.following import follow, tell_of
from orchestrator.cli.endpoint import Service
from orchestrator.cli.samples import explain
from orchestrator.contracts.jobs import State
from orchestrator.contracts.rounds import Choice

ROWS_SHOWN = 100
campaign_id = click.argument("campaign_id", metavar="ID", type=click.IntRange(min=1))
watch_option = click.option("--watch", "watched", is_flag=True, help="Follow it to its end.")


@click.group()
def campaign() -> None:
    """Submit, watch and export campaigns."""


campaign.add_command(archive.archive)
campaign.add_command(archive.restore)
campaign.add_command(explain.of_campaign)
campaign.add_command(again.rerun)
campaign.add_command(again.calibration)
campaign.add_command(analyse.analyse)
campaign.add_command(canaries.canaries)


@campaign.command()
@click.argument("study", metavar="FILE|PRESET")
@watch_option
@click.option("--key", help="Idempotency key: the same key and study give the first campaign again.")
@endpoint.service
def submit(*, study: str, watched: bool, key: str | None, service: Service, as_json: bool) -> None:
    """Submit a study file, or a preset by name.

    Example: modescope campaign submit study.yaml --watch
    """
    from orchestrator.design import document
    from orchestrator.design.study import find

    text = document.write(find(study).as_dict())
    with service() as client:
        made, new = client.submit(text, where=study, key=key)
        tell_of(client, made, watched=watched, as_json=as_json, verb="submitted" if new else "there already")


@campaign.command("list")
@endpoint.service
def list_(*, service: Service, as_json: bool) -> None:
    """List campaigns, newest first.

    Example: modescope campaign list --json
    """
    from orchestrator.cli import tables

    with service() as client:
        found = client.campaigns()
    if as_json:
        printing.as_json(found)
    elif found:
        printing.console().print(tables.of_campaigns(found))
    else:
        click.echo("No campaign yet; submit one with `modescope campaign submit demo --watch`.")


@campaign.command()
@campaign_id
@click.option("--verdict", help="Only configurations with this verdict, such as multimodal.")
@click.option("--mode", help="Only this I/O operation mode, such as readers.")
@click.option("--all", "everything", is_flag=True, help=f"All configurations, not just the first {ROWS_SHOWN}.")
@endpoint.service
def show(
    *,
    campaign_id: int,
    verdict: str | None,
    mode: str | None,
    everything: bool,
    service: Service,
    as_json: bool,
) -> None:
    """Show a campaign and its configurations, the flagged ones first.

    Example: modescope campaign show 3 --verdict multimodal
    """
    from orchestrator import words
    from orchestrator.cli import tables

    with service() as client:
        progress = client.progress(campaign_id)
        found = tables.flagged_first(client.configurations(campaign_id, verdict=verdict, mode=mode))
        grown = client.growth(progress.campaign)
    if as_json:
        told = {} if grown is None else {"choice" if isinstance(grown, Choice) else "adaptation": grown}
        printing.as_json({"progress": progress, "configurations": found, **told})
        return
    shown = found if everything else found[:ROWS_SHOWN]
    console = printing.console()
    console.print(words.outcome(progress), soft_wrap=True)
    for sentence in words.growth(grown):
        console.print(sentence, soft_wrap=True)
    console.print(tables.of_configurations(progress.campaign.factors, shown))
    if len(shown) < len(found):
        click.echo(f"... and {len(found) - len(shown):,} more; --all shows them.")


@campaign.command()
@campaign_id
@endpoint.service
def watch(*, campaign_id: int, service: Service, as_json: bool) -> None:
    """Follow a campaign to its end; exit status 1 when it ends incomplete.

    Example: modescope campaign watch 3
    """
    with service() as client:
        follow(client, campaign_id, as_json=as_json)


@campaign.command()
@campaign_id
@endpoint.service
def status(*, campaign_id: int, service: Service, as_json: bool) -> None:
    """Show how far a campaign is, how fast its nodes work, and how long it will take.

    Example: modescope campaign status 3
    """
    from orchestrator.cli import tables
    from orchestrator.cli.campaigns import watch

    with service() as client:
        progress, rates = client.progress(campaign_id), client.rates(campaign_id)
    if as_json:
        printing.as_json({"progress": progress, "rates": rates})
        return
    click.echo(watch.line(progress))
    if progress.nodes:
        printing.console().print(tables.of_shares(progress.nodes, rates))


@campaign.command("time-left")
@campaign_id
@click.option("--nodes", type=int, default=0, help="What if so many more nodes worked on it, as in +2, or fewer?")
@click.option("--replicates", type=click.IntRange(min=1), help="What if each setting had so many replicates?")
@endpoint.service
def time_left(*, campaign_id: int, nodes: int, replicates: int | None, service: Service, as_json: bool) -> None:
    """Say how long a campaign will take, as it is or if things were otherwise; with an 80 % interval.

    Example: modescope campaign time-left 3 --nodes +2 --replicates 75
    """
    from orchestrator import words

    with service() as client:
        found = client.time_left(campaign_id, nodes=nodes, replicates=replicates)
    if as_json:
        printing.as_json(found)
        return
    left = words.span(found.time_left_s, found.time_left_low_s, found.time_left_high_s)
    reason = f": {found.reason}" if found.reason else f", on {words.counted(found.nodes, 'node')}"
    click.echo(f"Time left {left}{reason}.")
    if found.runs_per_s is not None and found.low_per_s is not None and found.high_per_s is not None:
        rate = words.rate_span(found.runs_per_s, found.low_per_s, found.high_per_s)
        click.echo(f"Together they do {rate}, of average cost.")


@campaign.command()
@campaign_id
@click.option("--job", "job_id", type=click.IntRange(min=1), help="This job; the next that waits when not given.")
@endpoint.service
def why(*, campaign_id: int, job_id: int | None, service: Service, as_json: bool) -> None:
    """Say why a campaign's next job, or one of its jobs, is not running.

    Example: modescope campaign why 3
    """
    with service() as client:
        waiting = job_id or next((job.id for job in client.jobs(campaign_id, state=State.QUEUED, limit=1)), None)
        reason = "no job of it waits" if waiting is None else client.why(campaign_id, waiting)
    if as_json:
        printing.as_json({"job": waiting, "reason": reason})
    else:
        click.echo(reason if waiting is None else f"Job {waiting}: {reason}.")


@campaign.command()
@campaign_id
@endpoint.service
def pause(*, campaign_id: int, service: Service, as_json: bool) -> None:
    """Start nothing new; runs in flight end.

    Example: modescope campaign pause 3
    """
    with service() as client:
        tell_of(client, client.pause(campaign_id), as_json=as_json, verb="paused")


@campaign.command()
@campaign_id
@endpoint.service
def resume(*, campaign_id: int, service: Service, as_json: bool) -> None:
    """Go on with a paused campaign.

    Example: modescope campaign resume 3
    """
    with service() as client:
        tell_of(client, client.resume(campaign_id), as_json=as_json, verb="resumed")


@campaign.command()
@campaign_id
@click.option("--now", is_flag=True, help="End the runs in flight too.")
@endpoint.service
def cancel(*, campaign_id: int, now: bool, service: Service, as_json: bool) -> None:
    """Give up what is not measured yet; what is measured stays.

    Example: modescope campaign cancel 3 --now
    """
    with service() as client:
        tell_of(client, client.cancel(campaign_id, now=now), as_json=as_json, verb="cancelled")


@campaign.command()
@campaign_id
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The file to write.")
@click.option(
    "--format",
    "as_format",
    type=click.Choice(["csv", "parquet", "arrow", "bundle"]),
    default="csv",
    show_default=True,
    help="Bundle: a .zip with data, study, verdicts, versions and checksums, which `modescope import` restores.",
)
@endpoint.service
def export(*, campaign_id: int, out: Path, as_format: str, service: Service, as_json: bool) -> None:
    """Write every measured value, a row per run and mode, as CSV, Parquet or an Arrow IPC stream; or all of a campaign.

    Example: modescope campaign export 3 --format bundle --out campaign-3.zip
    """
    from orchestrator.cli.files import write_whole

    with service() as client:
        write_whole(out, client.export(campaign_id, as_format=as_format))
    _tell_file(out, as_json=as_json)


@campaign.command()
@campaign_id
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The HTML file to write.")
@endpoint.service
def report(*, campaign_id: int, out: Path, service: Service, as_json: bool) -> None:
    """Write the campaign as one self-contained page.

    Example: modescope campaign report 3 --out report.html
    """
    from orchestrator.cli.files import write_whole

    with service() as client:
        write_whole(out, [client.report(campaign_id).encode()])
    _tell_file(out, as_json=as_json)


def _tell_file(out: Path, *, as_json: bool) -> None:
    if as_json:
        printing.as_json({"out": str(out), "bytes": out.stat().st_size})
    else:
        click.echo(f"Wrote {out}.")
