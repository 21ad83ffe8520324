"""Where the service is, and the token it wants: options, then environment, then the home's endpoint.json."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orchestrator.contracts.errors import HomeError, NotAllowedError, UnavailableError
from orchestrator.settings import home_from

if TYPE_CHECKING:
    from orchestrator.client import Client

FILE_NAME = "endpoint.json"
Service = Callable[[], "Client"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """A service's address and bearer token."""

    address: str
    token: str


def service(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a verb `--url`, `--home` and `--json`; it gets `service`, which opens a client, and `as_json`."""

    @click.option("--url", help="The service's address; its token is read from MODESCOPE_TOKEN.")
    @click.option("--home", type=click.Path(path_type=Path), help="Home folder of a service on this machine.")
    @click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
    @functools.wraps(command)
    def with_service(*, url: str | None, home: Path | None, **arguments: Any) -> Any:
        return command(service=functools.partial(_connect, url, home), **arguments)

    return with_service


def _connect(url: str | None, home: Path | None) -> Client:
    from orchestrator.client import Client

    found = find(url, home, os.environ)
    return Client(found.address, found.token)


def find(url: str | None, home: Path | None, environment: Mapping[str, str]) -> Endpoint:
    """`--url` or `--home`; else MODESCOPE_URL; else the home of MODESCOPE_HOME, or the user's own.

    Raises NotAllowedError when an address has no token, UnavailableError when the home has no service.
    """
    address = url if url or home else environment.get("MODESCOPE_URL")
    if not address:
        return read(home or home_from(environment))
    token = environment.get("MODESCOPE_TOKEN")
    if not token:
        raise NotAllowedError(f"{address} wants a bearer token: set MODESCOPE_TOKEN")
    return Endpoint(address=address, token=token)


def read(home: Path) -> Endpoint:
    """What `modescope up` wrote into its home."""
    path = home / FILE_NAME
    try:
        stored = json.loads(path.read_text())
        return Endpoint(address=stored["address"], token=stored["token"])
    except FileNotFoundError:
        raise UnavailableError(f"no service has run in {home}; start it with `modescope up --home {home}`") from None
    except (ValueError, KeyError, TypeError):
        raise HomeError(f"{path} is not what `modescope up` writes; start it again") from None
