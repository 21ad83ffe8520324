"""`modescope agent`."""

from __future__ import annotations

import click


@click.command()
@click.option("--node", required=True, metavar="NAME", help="The node this agent works for.")
@click.option("--verbose", is_flag=True, help="Log what is done, and not only what is wrong.")
def agent(*, node: str, verbose: bool) -> None:
    """Measure on this machine, for one node, until stopped.

    Addresses come from MODESCOPE_DATABASE_URL and MODESCOPE_REDIS_URL; the node's inventory, spool and target folder
    are in MODESCOPE_HOME. SIGTERM lets the run in flight end, for at most a minute.

    \b
    Example:
      modescope agent --node m01
    """
    from orchestrator.logs import log_to_stderr
    from orchestrator.settings import Settings
    from workers import tasks, wiring

    log_to_stderr("agent", verbose=verbose, node=node)
    settings = Settings.from_environment()
    tasks.serve_node(wiring.open_agent(settings, node), settings.redis_url)
