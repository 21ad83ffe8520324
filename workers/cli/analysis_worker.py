"""`modescope analysis-worker`."""

from __future__ import annotations

import click


@click.command("analysis-worker")
@click.option("--processes", default=1, show_default=True, type=click.IntRange(1), help="How many fit side by side.")
@click.option("--verbose", is_flag=True, help="Log what is done, and not only what is wrong.")
def analysis_worker(*, processes: int, verbose: bool) -> None:
    """Fit what campaigns have measured, until stopped. Any number may run.

    Addresses come from MODESCOPE_DATABASE_URL and MODESCOPE_REDIS_URL.

    \b
    Example:
      modescope analysis-worker --processes 2
    """
    from orchestrator.logs import log_to_stderr
    from orchestrator.settings import Settings
    from workers import tasks, wiring

    log_to_stderr("analysis-worker", verbose=verbose)
    settings = Settings.from_environment()
    tasks.serve_analysis(wiring.open_analyst(settings, processes=processes), settings.redis_url)
