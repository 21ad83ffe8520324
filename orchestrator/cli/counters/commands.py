"""`modescope counters`: models of runtime and power from hardware counters."""

from __future__ import annotations

import click

from orchestrator.cli.counters.compare import compare
from orchestrator.cli.counters.models import fit, rank, what_if


@click.group()
def counters() -> None:
    """Model runtime and power from hardware counters: which one to work on, and what if it changed.

    \b
    TABLE is CSV, plain or .gz: one row a sample, or a run, or a mode of a run; label columns, counters, a frequency,
    and targets such as runtime, node_power, cpu_power, memory_power. Columns are recognised by their names.
    """


for command in (fit, rank, what_if, compare):
    counters.add_command(command)
