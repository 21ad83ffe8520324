"""`modescope api`: the REST interface of a service whose parts run one by one."""

from __future__ import annotations

import ipaddress
import os
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator.contracts.access import Scope, digest
from orchestrator.contracts.errors import MissingPartError, UserError

if TYPE_CHECKING:
    from orchestrator.store.ports import Store

DEFAULT_PORT = 8750
CONNECTIONS_KEPT = 4
FIRST_TOKEN = "service"  # noqa: S105 - a name
"""What the audit log calls whoever shows MODESCOPE_TOKEN."""


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=DEFAULT_PORT, show_default=True, type=click.IntRange(0, 65535), help="Port.")
@click.option("--tls-certificate", type=click.Path(exists=True, path_type=Path), help="PEM file: speak TLS.")
@click.option("--tls-key", type=click.Path(exists=True, path_type=Path), help="PEM file of its private key.")
@click.option("--behind-proxy", is_flag=True, help="Allow other hosts in: a proxy in front speaks TLS.")
@click.option("--verbose", is_flag=True, help="Log what is done, and not only what is wrong.")
def api(
    *, host: str, port: int, tls_certificate: Path | None, tls_key: Path | None, behind_proxy: bool, verbose: bool
) -> None:
    """Serve the REST interface and the pages.

    Reads MODESCOPE_DATABASE_URL and MODESCOPE_REDIS_URL. MODESCOPE_TOKEN, when set, is an administrator's token;
    with it others are made: `modescope token create`.

    Example: MODESCOPE_TOKEN=... modescope api --port 8750
    """
    from orchestrator.logs import log_to_stderr

    log_to_stderr("api", verbose=verbose)
    if (tls_certificate is None) != (tls_key is None):
        raise UserError("--tls-certificate and --tls-key belong together")
    _check_host(host, safe=behind_proxy or tls_certificate is not None)
    _serve(host, port, tls_certificate, tls_key, behind_proxy=behind_proxy)


def _serve(host: str, port: int, tls_certificate: Path | None, tls_key: Path | None, *, behind_proxy: bool) -> None:
    import uvicorn

    from orchestrator import queue, wiring
    from orchestrator.api.serving import Server
    from orchestrator.settings import Settings
    from orchestrator.store import schema
    from orchestrator.web import site

    settings = Settings.from_environment()
    store = wiring.open_store(settings, keep=CONNECTIONS_KEPT)
    try:
        admit(store, os.environ.get("MODESCOPE_TOKEN"))
        application = site.create(
            store,
            stop_now=partial(queue.stop_now, settings.redis_url),
            checks={
                "database": partial(schema.require_current, settings.database_url),
                "redis": partial(queue.require, settings.redis_url),
            },
            over_tls=behind_proxy or tls_certificate is not None,
        )
        config = uvicorn.Config(
            application,
            host=host,
            port=port,
            ssl_certfile=tls_certificate,
            ssl_keyfile=tls_key,
            log_config=None,  # its loggers are ours as well (orchestrator/logs.py)
            access_log=False,
            server_header=False,
        )
        with suppress(KeyboardInterrupt):
            Server(config, application).run()
    finally:
        store.close()


def admit(store: Store, secret: str | None) -> None:
    """Make MODESCOPE_TOKEN an administrator's token; another one takes the place of the one before.

    Raises MissingPartError when it is not set and there is no other way in.
    """
    in_force = [token for token in store.access.tokens() if token.revoked_at is None]
    if secret is None:
        if not in_force:
            raise MissingPartError("MODESCOPE_TOKEN is not set: give the first administrator's token")
        return
    if store.access.holder(digest(secret)) is not None:
        return
    for token in in_force:
        if token.name == FIRST_TOKEN:
            store.access.revoke(token.id)
    store.access.issue(FIRST_TOKEN, [Scope.ADMIN], digest(secret))


def _check_host(host: str, *, safe: bool) -> None:
    """A token must not cross a network in the clear."""
    if safe or host == "localhost":
        return
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise UserError(
            f"--host {host}: other hosts could read the token; "
            "give --tls-certificate and --tls-key, or --behind-proxy when a proxy speaks TLS"
        )
