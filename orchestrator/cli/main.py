"""The root command: finds sub-commands by entry point, and ends every mistake in one line."""

from __future__ import annotations

import os
import sys

import click

from orchestrator.cli.commands import EntryPointGroup
from orchestrator.contracts.errors import ModescopeError

COMMAND_GROUP = "modescope.commands"

# `--help` reads this table instead of importing ten modules (a test compares it with their docstrings).
SHORT_HELPS = {
    "agent": "Measure on this machine, for one node, until stopped.",
    "analysis-worker": "Fit what campaigns have measured, until stopped.",
    "api": "Serve the REST interface and the pages.",
    "campaign": "Submit, watch and export campaigns.",
    "compare": "Compare A and B: each a campaign's number, or a CSV file (plain or .gz).",
    "controller": "Hand out jobs and take back what ended badly, until stopped.",
    "counters": "Model runtime and power from hardware counters: which one to work on, and what if it changed.",
    "criticality": "Which ranks hold everybody up, whether it is always the same ones, and what tells beforehand.",
    "db": "Create, upgrade, dump and restore the database.",
    "demo": "Run a small study on this machine, from start to report.",
    "design": "Check and expand study files.",
    "doctor": "Check every part, and say what to do about what is wrong.",
    "explain": "Say what goes with the modes of the samples in FILE (long CSV: one run a row, values in `throughput`).",
    "fit": "Fit mixture distributions to the samples in FILE (CSV, plain or .gz).",
    "fleet": "Compare, install, start, drain and stop nodes over SSH.",
    "import": "Make a campaign of results that were measured elsewhere; twice is once.",
    "logs": "Join the logs of jobs, and predict the throughput of a job before it runs.",
    "node": "Show nodes and let them back to work; check and prepare this machine.",
    "parse": "Read a benchmark's output into CSV.",
    "predict": "Predict the throughput distribution of configurations that were never run, from those in FILE.",
    "rights": "Make users of PostgreSQL and Redis: for the API, for analysis workers, for each of NODES.",
    "sample-size": "How many runs do the quantiles of each configuration in FILE (CSV, plain or .gz) need?",
    "token": "Make, list and revoke the tokens that open the service.",
    "service-rate": "Estimate how fast a server works while nothing blocks it, from TRACE (CSV, plain or .gz).",
    "up": "Run every part on this machine, in the foreground.",
}


@click.command(
    cls=EntryPointGroup,
    found_in=COMMAND_GROUP,
    short_helps=SHORT_HELPS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="modescope")
def root() -> None:
    """Measure how performance varies: campaigns of repeated benchmarks, mixture fits, multimodal configurations."""


def main() -> int:
    """Run `modescope`; returns its exit status. With MODESCOPE_DEBUG=1 errors keep their traceback."""
    try:
        status = root.main(prog_name="modescope", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
    except Exception as error:
        if os.environ.get("MODESCOPE_DEBUG") == "1":
            raise
        message, status = _one_line(error)
        click.echo(f"modescope: {message}", err=True)
    return status if isinstance(status, int) else 0


def _one_line(error: Exception) -> tuple[str, int]:
    """What to tell the user, and the exit status; a bug of ours is raised again."""
    from analysis.errors import AnalysisError

    match error:
        case ModescopeError():
            return str(error), error.exit_status
        case AnalysisError():
            return " ".join(str(error).split()), 2
        case click.Abort():
            return "interrupted", 130
        case click.UsageError(ctx=click.Context() as context):
            return f"{error.format_message()} See `{context.command_path} --help`.", error.exit_code
        case click.ClickException():
            return error.format_message(), error.exit_code
        case OSError(strerror=str(reason)):
            return f"{error.filename}: {reason}" if error.filename else reason, 1
    raise error


if __name__ == "__main__":
    sys.exit(main())
