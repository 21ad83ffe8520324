"""`modescope logs`: join the logs of jobs, and predict the throughput of a job before it runs."""

from __future__ import annotations

import click

from orchestrator.cli.logs.predictions import evaluate, predict, report
from orchestrator.cli.logs.records import heat_map, ingest, table


@click.group(no_args_is_help=True)
def logs() -> None:
    """Join the logs of jobs, and predict the throughput of a job before it runs."""


for command in (evaluate, predict, report, ingest, table, heat_map):
    logs.add_command(command)
