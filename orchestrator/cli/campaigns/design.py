"""`modescope design`: what a study file amounts to, before anything runs."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator import words
from orchestrator.cli.files import write_whole
from orchestrator.cli.printing import as_json

if TYPE_CHECKING:
    from orchestrator.contracts.designs import Design
    from orchestrator.contracts.preparation import Preparation
    from orchestrator.contracts.rates import Duration
    from orchestrator.design.check import Summary
    from orchestrator.design.study import Study


@click.group()
def design() -> None:
    """Check and expand study files."""


@design.command()
@click.argument("source", metavar="FILE|PRESET")
@click.option("--nodes", type=click.IntRange(1), help="Nodes that share the work.  [default: those it names, or 1]")
@click.option("--here", is_flag=True, help="Also say what this machine cannot set, and how to run all the same.")
@click.option("--json", "json_wanted", is_flag=True, help="Print one line of JSON.")
def check(source: str, nodes: int | None, here: bool, json_wanted: bool) -> None:
    """Count what a study asks for, estimate its duration, draw which levels it covers.

    FILE is a study file; PRESET one that comes with Modescope: demo, xu2020 (in orchestrator/design/presets/).

    \b
    Example:
      modescope design check xu2020 --nodes 12
      modescope design check my-study.yaml --here
    """
    from orchestrator.design.check import summarise
    from orchestrator.design.expand import expand
    from orchestrator.design.picture import draw
    from orchestrator.design.study import find

    study = find(source)
    summary = summarise(study, nodes=nodes)
    took = _duration(study, summary.nodes)
    if json_wanted:
        as_json(summary.as_dict() | {"duration": took} | ({"here": _here(study.node)} if here else {}))
        return
    click.echo("\n".join([*_counts(summary, took), "", *draw(expand(study))]))
    for label, sentences in (("warning", summary.warnings), ("note", summary.notes)):
        for sentence in sentences:
            click.echo(f"{label}: {sentence}")
    if here:
        click.echo("\n".join(_here_lines(study.node)))


@design.command()
@click.argument("source", metavar="FILE|PRESET")
@click.option("--format", "_format", type=click.Choice(["csv"]), default="csv", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="Write here.  [default: standard output]")
def expand(source: str, _format: str, out: Path | None) -> None:
    """Print a study's configurations, one a row: its factors, then mode. Controls are not among them.

    \b
    Example:
      modescope design expand xu2020 --format csv --out xu2020.csv
    """
    from orchestrator.design.expand import expand as expand_study
    from orchestrator.design.study import find

    rows = _rows(expand_study(find(source)))
    if out is None:
        for row in rows:
            click.echo(row, nl=False)
    else:
        write_whole(out, (row.encode() for row in rows))


def _counts(summary: Summary, took: Duration) -> list[str]:
    levels = " × ".join(f"{factor} {count}" for factor, count in summary.levels.items())
    rows = [
        ("settings", f"{summary.settings:,}", f"out of {levels}"),
        ("configurations", f"{summary.configurations:,}", f"in {words.counted(len(summary.modes), 'mode')}"),
        *(("", f"{count:,}", f"of {', '.join(modes)}") for count, modes in _by_count(summary.modes).items()),
        ("invocations", f"{summary.invocations:,}", f"{summary.replicates:,} of each setting"),
        ("jobs", f"{summary.jobs:,}", f"{summary.jobs_per_setting:,} of each setting"),
        ("duration", "about", f"{words.span(took.seconds, took.low_s, took.high_s)} {_on(summary.nodes)}"),
        ("", "by", _by(took)),
    ]
    if summary.space_kb is not None:
        rows.append(("free space", f"{-(-summary.space_kb // 1024):,}", "MB, for the largest invocation"))
    if summary.controls:
        rows.append(("controls", f"{len(summary.controls):,}", f"synthetic, played: {', '.join(summary.controls)}"))
    return [
        f"{summary.name}, on the engine {summary.engine}",
        *(f"  {name:<14} {count:>11}  {text}" for name, count, text in rows),
    ]


def _duration(study: Study, nodes: int) -> Duration:
    """By what past campaigns cost, where a service answers that has any; else by the defaults."""
    from orchestrator.campaigns.estimate import estimate
    from orchestrator.cli import endpoint
    from orchestrator.client import Client
    from orchestrator.contracts.errors import ModescopeError
    from orchestrator.design import document

    try:
        found = endpoint.find(None, None, os.environ)
        with Client(found.address, found.token) as client:
            return client.duration(document.write(study.as_dict()), nodes=nodes)
    except ModescopeError:  # a check needs nobody else
        return estimate(study, nodes=nodes)


def _by(took: Duration) -> str:
    if took.runs == 0:
        return "the defaults that come with Modescope; past campaigns on a service would tell more"
    campaigns = ", ".join(str(campaign_id) for campaign_id in took.campaigns)
    return f"{words.counted(took.runs, 'run')} of past campaigns ({campaigns})"


def _by_count(modes: dict[str, int]) -> dict[int, list[str]]:
    """Modes that equally many settings measure, together."""
    counts: dict[int, list[str]] = {}
    for mode, count in modes.items():
        counts.setdefault(count, []).append(mode)
    return counts


def _on(nodes: int) -> str:
    return "on one node" if nodes == 1 else f"on each of {nodes} nodes"


def _here(preparation: Preparation) -> list[dict[str, str]] | None:
    from orchestrator.design.check import here

    found = here(preparation)
    return None if found is None else [{"what": what, "yaml": line} for what, line in found]


def _here_lines(preparation: Preparation) -> list[str]:
    found = _here(preparation)
    if found is None:
        return ["here: unknown, for the part that looks at machines (workers) is not installed"]
    if not found:
        return ["here: this machine can set all that the study asks of a node"]
    missing = [f"here: {shortfall['what']}" for shortfall in found]
    return [
        *missing,
        "here: to run all the same, write",
        "  node:",
        *(f"    {shortfall['yaml']}" for shortfall in found),
    ]


def _rows(design: Design) -> Iterator[str]:
    """The lines of the CSV, the header first."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow((*design.factors, "mode"))
    for setting in design.settings:
        if setting.control is None:
            writer.writerows((*setting.levels, mode) for mode in setting.modes)
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
