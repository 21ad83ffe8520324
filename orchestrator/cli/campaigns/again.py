"""`modescope campaign rerun` and `calibration`: measure again, and what flags are worth."""

from __future__ import annotations

import click

from orchestrator.cli import endpoint, printing
from orchestrator.cli.campaigns.following import tell_of
from orchestrator.cli.endpoint import Service
from orchestrator.contracts.calibration import Rate
from orchestrator.contracts.errors import RequestError

NODES = ("same", "any")


@click.command()
@click.argument("campaign_id", metavar="ID", type=click.IntRange(min=1))
@click.option("--flag", help="A verdict, such as multimodal; or incomplete: what lacks valid runs.")
@click.option("--mode", help="Only this I/O operation mode.")
@click.option("--level", "levels", multiple=True, metavar="FACTOR=LEVEL", help="Only this level of a factor.")
@click.option("--configuration", "pairs", multiple=True, metavar="SETTING:MODE", help="This one, as often as you like.")
@click.option("--replicates", type=click.IntRange(min=1), help="Runs of each setting.  [default: as many as before]")
@click.option("--hours", type=click.FloatRange(min=0, min_open=True), help="As many as so much node time allows.")
@click.option("--power", type=click.FloatRange(0.5, 0.95), help="As many as show the weakest flag again so probably.")
@click.option(
    "--target",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="As many as bring standard errors of x_0.1 and x_0.9 to this share of their distance.",
)
@click.option(
    "--nodes",
    default="same",
    show_default=True,
    help="same: those that measured a setting, in the same proportions; any: as the campaign was placed; or A,B.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Of the order of the jobs.")
@click.option("--key", help="Idempotency key: the same key gives the first re-run again.")
@click.option("--watch", "watched", is_flag=True, help="Follow it to its end.")
@endpoint.service
def rerun(
    *,
    campaign_id: int,
    flag: str | None,
    mode: str | None,
    levels: tuple[str, ...],
    pairs: tuple[str, ...],
    replicates: int | None,
    hours: float | None,
    power: float | None,
    target: float | None,
    nodes: str,
    seed: int | None,
    key: str | None,
    watched: bool,
    service: Service,
    as_json: bool,
) -> None:
    """Measure flagged, filtered or picked configurations again, as a child campaign.

    A setting is measured once, with all its modes. What was flagged gets a confirming verdict from the new runs.

    Example: modescope campaign rerun 3 --flag multimodal --level threads=64 --power 0.8
    """
    if not (flag or mode or levels or pairs):
        raise click.UsageError("say what to measure again: --flag, --mode, --level or --configuration.")
    with service() as client:
        child, new = client.rerun(
            campaign_id,
            flag=flag,
            mode=mode,
            levels=dict(_split(level, "=", "--level FACTOR=LEVEL") for level in levels),
            configurations=[_pair(text) for text in pairs],
            replicates=replicates,
            hours=hours,
            power=power,
            target=target,
            nodes=nodes if nodes in NODES else [name.strip() for name in nodes.split(",")],
            seed=seed,
            key=key,
        )
        verb = f"submitted, a re-run of {campaign_id}" if new else "there already"
        tell_of(client, child, watched=watched, as_json=as_json, verb=verb)


@click.command()
@click.argument("campaign_id", metavar="ID", type=click.IntRange(min=1))
@endpoint.service
def calibration(*, campaign_id: int, service: Service, as_json: bool) -> None:
    """Say how often the controls of a campaign, whose truth is known, were flagged and confirmed.

    Example: modescope campaign calibration 3
    """
    with service() as client:
        found = client.calibration(campaign_id)
    if as_json:
        printing.as_json(found)
        return
    _say(found.false_flags, "controls with one mode are flagged (false flags)")
    _say(found.false_confirmations, "controls with one mode were confirmed by a re-run (false confirmations)")
    _say(found.found, "controls with several modes are flagged")
    _say(found.confirmed, "of these that were measured again were confirmed")


def _say(rate: Rate, what: str) -> None:
    share = f", {100 * rate.low:.1f} to {100 * rate.high:.1f} %" if rate.of else ""
    click.echo(f"{rate.count} of {rate.of} {what}{share}")


def _pair(text: str) -> tuple[int, str]:
    setting, mode = _split(text, ":", "--configuration SETTING:MODE")
    if not setting.isdecimal():
        raise RequestError(f"{text!r}: write --configuration SETTING:MODE, as in 17:readers")
    return int(setting), mode


def _split(text: str, sign: str, wanted: str) -> tuple[str, str]:
    left, found, right = text.partition(sign)
    if not (left and found and right):
        raise RequestError(f"{text!r}: write {wanted}")
    return left, right
