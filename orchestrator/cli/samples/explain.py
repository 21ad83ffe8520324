"""`modescope campaign explain` and `modescope explain`: what goes with the modes of a configuration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator.cli import endpoint, printing
from orchestrator.cli.endpoint import Service
from orchestrator.contracts.analyses import FLAGGED
from orchestrator.contracts.errors import RequestError

if TYPE_CHECKING:
    from analysis.attribution import Explanation


@click.command("explain")
@click.argument("campaign_id", metavar="ID", type=click.IntRange(min=1))
@click.argument("configuration", metavar="[SETTING:MODE]", required=False)
@click.option(
    "--discard",
    type=click.IntRange(0, 1000),
    help="First runs of every job to leave out.  [default: as many as the analysis sets aside]",
)
@endpoint.service
def of_campaign(
    *, campaign_id: int, configuration: str | None, discard: int | None, service: Service, as_json: bool
) -> None:
    """Say what goes with the modes of a configuration, or of all flagged ones of a campaign.

    Nodes, sessions, order, what was observed around the runs: by permutation tests with false-discovery control.

    Example: modescope campaign explain 3 17:readers
    """
    with service() as client:
        factors = client.campaign(campaign_id).factors
        known = client.configurations(campaign_id, verdict=None if configuration else FLAGGED)
        wanted = None if configuration is None else _pair(configuration)
        found = [one for one in known if wanted in (None, (one.setting_id, one.mode))]
        if wanted is not None and not found:
            raise RequestError(f"campaign {campaign_id} has no configuration {configuration}")
        told = []
        for one in found:
            explanation = client.explanation(campaign_id, one.setting_id, one.mode, discard=discard)
            told.append({"setting_id": one.setting_id, "mode": one.mode, "explanation": explanation})
            if not as_json:
                from orchestrator import words

                _tell(f"{words.title(factors, one)} ({one.setting_id}:{one.mode})", explanation, brief=wanted is None)
    if as_json:
        printing.as_json(told if wanted is None else told[0])
    elif not told:
        click.echo(f"Campaign {campaign_id} has no configuration that is {FLAGGED}.")


@click.command("explain")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--labels", help="Columns that tell configurations apart, comma-separated.  [default: one configuration]")
@click.option("--node", default="node", show_default=True, help="Column of the node, where there is one.")
@click.option("--job", default="job", show_default=True, help="Column of the job or block.")
@click.option("--session", default="session", show_default=True, help="Column of the session.")
@click.option("--order", default="order", show_default=True, help="Column to sort by.  [without it: as in the file]")
@click.option("--discard", type=click.IntRange(0, 1000), default=0, help="First runs of every job to leave out.")
@click.option("--unit", default="kB/s", show_default=True, help="Unit of the values, for sentences.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def of_file(
    *, file: Path, labels: str | None, node: str, job: str, session: str, order: str, discard: int, unit: str,
    as_json: bool,
) -> None:  # fmt: skip
    """Say what goes with the modes of the samples in FILE (long CSV: one run a row, values in `throughput`).

    Columns that are neither labels nor node, job, session, order are circumstances of a run: numbers such as a
    temperature, or words.

    Example: modescope explain runs.csv --labels file_size_kb,mode
    """
    from orchestrator.cli.samples import explained_files

    columns = explained_files.Columns(
        labels=() if labels is None else tuple(name.strip() for name in labels.split(",")),
        node=node, job=job, session=session, order=order,
    )  # fmt: skip
    told = []
    for name, explanation in explained_files.explanations(file, columns, discard=discard, unit=unit):
        told.append({"labels": name, "explanation": explanation})
        if not as_json:
            _tell(" ".join(name.values()) or str(file), explanation, brief=False)
    if as_json:
        printing.as_json(told)


def _pair(text: str) -> tuple[int, str]:
    setting, _, mode = text.partition(":")
    if not setting.isdecimal() or not mode:
        raise RequestError(f"{text!r} is no configuration; write SETTING:MODE, as in 17:readers")
    return int(setting), mode


def _tell(title: str, found: Explanation, *, brief: bool) -> None:
    where = "" if found.label is None else f"{found.label.where}: "
    click.echo(f"{title}: {where}{found.sentence}")
    if brief:
        return
    if found.label is not None:
        click.echo(f"  {found.label.reason}")
    for one in sorted(found.findings, key=lambda finding: -finding.effect):
        click.echo(f"  {one.name}: explains {100 * one.effect:.0f} %, q {one.q:.3g}{', named' if one.named else ''}")
    jobs = found.dependence.by_job
    if jobs is not None:
        click.echo(f"  correlation within a job {jobs.value:.2f} ({jobs.low:.2f} to {jobs.high:.2f})")
    click.echo(f"  {found.n} runs tell as much as {found.dependence.effective_n:.0f} independent ones")
    for change in found.drift:
        click.echo(f"  level changes with run {change.at + 1}: {change.before:.4g} before, {change.after:.4g} after")
