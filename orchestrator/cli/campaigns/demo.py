"""`modescope demo`: a small study on this machine, from its file to its report."""

from __future__ import annotations

from pathlib import Path

import click

from orchestrator.cli import printing


@click.command()
@click.option(
    "--engine",
    type=click.Choice(["builtin", "iozone"]),
    default="builtin",
    show_default=True,
    help="What measures: Modescope's own small benchmark, or IOzone.",
)
@click.option("--home", type=click.Path(path_type=Path, file_okay=False), help="Keep everything in this folder.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("report.html"),
    show_default=True,
    help="Where the report goes.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as one line of JSON.")
def demo(engine: str, home: Path | None, out: Path, as_json: bool) -> None:
    """Run a small study on this machine, from start to report.

    Starts every part in a home of its own, submits the preset `demo`, shows its progress, re-runs what is flagged, and
    stops every process it started, also after Ctrl-C. Nothing of it stays but the report, unless --home is given.

    Example: modescope demo --engine iozone --out iozone.html
    """
    from orchestrator.cli.campaigns import demonstration
    from orchestrator.cli.files import check_writable

    check_writable(out)
    study, notice = demonstration.study_for(engine)
    say = printing.progress if as_json else click.echo
    if notice:
        say(notice)
    shown = demonstration.run(study, home=home, out=out, console=None if as_json else printing.console(), say=say)
    if as_json:
        printing.as_json(shown)
    if not shown.complete:
        click.get_current_context().exit(1)
