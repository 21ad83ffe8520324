"""`modescope api`: the REST interface of a service whose parts run one by one."""

from __future__ import annotations

import ipaddress
import os
from functools import partial

import click

from orchestrator.contracts.errors import MissingPartError, UserError

DEFAULT_PORT = 8750
CONNECTIONS_KEPT = 4


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=DEFAULT_PORT, show_default=True, type=click.IntRange(0, 65535), help="Port.")
@click.option("--behind-proxy", is_flag=True, help="Allow other hosts in: a proxy in front speaks TLS.")
def api(host: str, port: int, behind_proxy: bool) -> None:
    """Serve the REST interface.

    Reads MODESCOPE_DATABASE_URL, MODESCOPE_REDIS_URL and MODESCOPE_TOKEN, the bearer token clients must show.

    Example: MODESCOPE_TOKEN=... modescope api --port 8750
    """
    _check_host(host, behind_proxy)
    token = os.environ.get("MODESCOPE_TOKEN")
    if not token:
        raise MissingPartError("MODESCOPE_TOKEN is not set: give the bearer token that clients must show")
    _serve(host, port, token)


def _serve(host: str, port: int, token: str) -> None:
    import uvicorn

    from orchestrator import queue, wiring
    from orchestrator.api import app
    from orchestrator.settings import Settings

    settings = Settings.from_environment()
    store = wiring.open_store(settings, keep=CONNECTIONS_KEPT)
    try:
        application = app.create(store, token, stop_now=partial(queue.stop_now, settings.redis_url))
        uvicorn.run(application, host=host, port=port, log_level="warning", access_log=False)
    finally:
        store.close()


def _check_host(host: str, behind_proxy: bool) -> None:
    """A token must not cross a network in the clear."""
    if behind_proxy or host == "localhost":
        return
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise UserError(f"--host {host}: other hosts could read the token; add --behind-proxy when a proxy speaks TLS")
