"""`modescope doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from orchestrator.cli import printing
from orchestrator.cli.service import ledger
from orchestrator.cli.service.ledger import Found

if TYPE_CHECKING:
    from rich.table import Table

    from orchestrator.doctor.findings import Finding


@click.command()
@click.option("--repair", is_flag=True, help="Set kept counters that are wrong to what was counted; nothing else.")
@ledger.option
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def doctor(*, repair: bool, found: Found, as_json: bool) -> None:
    """Check every part, and say what to do about what is wrong.

    Looks at the database itself, Redis, clocks, the controller, agents, leases, messages, counters, and this machine's
    disk and spools. Exit status: 0 all is well, 1 something was found, 2 not everything could be checked.

    Example: modescope doctor --home /srv/modescope
    """
    from orchestrator.doctor.examination import examine

    findings, whole = examine(found(), repair=repair)
    wrong = [finding for finding in findings if not finding.fine]
    if as_json:
        printing.as_json({"checked": whole, "findings": findings})
    else:
        printing.console().print(_table(findings))
        click.echo(f"{len(wrong)} to do." if wrong else "All is well.")
    if wrong or not whole:
        click.get_current_context().exit(1 if whole else 2)


def _table(findings: list[Finding]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("part", no_wrap=True)
    table.add_column("seen", ratio=1)
    table.add_column("to do", ratio=1)
    for finding in findings:
        table.add_row(finding.part, finding.seen, finding.do or "", style="" if finding.fine else "bold yellow")
    return table
