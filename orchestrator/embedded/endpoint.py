"""Where the service answers and with which token, in a file that only its owner reads."""

from __future__ import annotations

import json
import secrets
import socket
from dataclasses import dataclass
from pathlib import Path

from orchestrator.contracts.errors import HomeError, UserError
from orchestrator.embedded.files import write_private

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """A port of the loopback device, and the bearer token that the service there wants."""

    port: int
    token: str
    new: bool
    """Has the token been made just now?"""

    @property
    def sign_in_link(self) -> str:
        """For a browser: what stands behind the # reaches no server and no log."""
        return f"{self.address}/sign-in#token={self.token}"

    @property
    def address(self) -> str:
        """For clients."""
        return f"http://{LOOPBACK}:{self.port}"

    def answers(self) -> bool:
        """Does something listen there?"""
        with socket.socket() as probe:
            probe.settimeout(1.0)
            return probe.connect_ex((LOOPBACK, self.port)) == 0


def choose(path: Path, port: int | None) -> Endpoint:
    """The wanted port, or any free one, and the home's token, made at its first start.

    Raises UserError when the wanted port is taken, HomeError when the file cannot be read.
    """
    return Endpoint(port=_free_port(port), token=_token(path), new=not path.exists())


def write(path: Path, endpoint: Endpoint) -> None:
    """Let clients find it: `--home` leads them here."""
    write_private(path, json.dumps({"address": endpoint.address, "token": endpoint.token}))


def _token(path: Path) -> str:
    if not path.exists():
        return secrets.token_urlsafe(32)
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["token"])
    except (KeyError, TypeError, ValueError) as error:
        raise HomeError(f"{path} holds no token; remove it, and the next start makes a new one") from error


def _free_port(wanted: int | None) -> int:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, wanted or 0))
        except OSError as error:
            raise UserError(f"port {wanted} on {LOOPBACK}: {error.strerror}; give another --port") from error
        return int(probe.getsockname()[1])
