"""`modescope controller`."""

from __future__ import annotations

import signal

import click


@click.command()
@click.option("--verbose", is_flag=True, help="Log what is done, and not only what is wrong.")
def controller(*, verbose: bool) -> None:
    """Hand out jobs and take back what ended badly, until stopped.

    Any number may run; they take turns. Addresses come from MODESCOPE_DATABASE_URL and MODESCOPE_REDIS_URL.

    \b
    Example:
      modescope controller
    """
    from orchestrator import wiring
    from orchestrator.logs import log_to_stderr
    from orchestrator.settings import Settings

    log_to_stderr("controller", verbose=verbose)
    part = wiring.open_controller(Settings.from_environment())
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: part.stop())
    part.run()
