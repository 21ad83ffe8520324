"""`modescope up`: every part on this machine, in the foreground."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from orchestrator.embedded.service import Service


@click.command()
@click.option(
    "--home", type=click.Path(path_type=Path, file_okay=False), help="Home folder; default: your data folder."
)
@click.option("--nodes", default=1, show_default=True, type=click.IntRange(0, 64), help="Local agents.")
@click.option(
    "--port", type=click.IntRange(1, 65535), help="Port of the REST interface on 127.0.0.1; default: a free one."
)
@click.option("--verbose", is_flag=True, help="Let the parts log what they do, and not only what is wrong.")
@click.option("--json", "as_json", is_flag=True, help="Print home, address and process ids as one line of JSON.")
def up(*, home: Path | None, nodes: int, port: int | None, verbose: bool, as_json: bool) -> None:
    """Run every part on this machine, in the foreground.

    Starts PostgreSQL, Redis, the REST interface, a controller, agents and an analysis worker, and stops them in order
    on Ctrl-C or SIGTERM. The home folder keeps the database, the logs and endpoint.json, which clients read.

    Example: modescope up --nodes 2
    """
    from orchestrator.embedded import stopping
    from orchestrator.embedded.service import Service
    from orchestrator.settings import home_from

    def progress(what: str) -> None:
        click.echo(f"starting {what}", err=True)

    if verbose:
        os.environ.setdefault("MODESCOPE_LOG_LEVEL", "info")  # the parts inherit it
    try:
        with stopping.on_request(), Service(home or home_from(), nodes=nodes, port=port, progress=progress) as service:
            click.echo(_json_line(service) if as_json else _greeting(service))
            _wait(service)
    except KeyboardInterrupt:
        click.echo("stopped before everything had started", err=True)


def _wait(service: Service) -> None:
    try:
        service.wait()
    except KeyboardInterrupt:
        click.echo("stopping; a run in flight may end first", err=True)


def _json_line(service: Service) -> str:
    return json.dumps({"home": str(service.folder), "address": service.address, "pids": dict(service.pids)})


def _greeting(service: Service) -> str:
    door = (
        f"Open {service.sign_in_link} (this link is shown once).\n"
        if service.sign_in_link is not None
        else f"The pages want the token that stands in {service.folder / 'endpoint.json'}.\n"
    )
    return (
        f"Modescope is ready at {service.address}, home {service.folder}. Ctrl-C stops it.\n{door}"
        f"In a second terminal: modescope campaign submit STUDY.yaml --home {service.folder} --watch"
    )
