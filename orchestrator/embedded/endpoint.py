"""Where the service answers and with which token, in a file that only its owner reads."""

from __future__ import annotations

import json
import secrets
import socket
from pathlib import Path

from orchestrator.contracts.errors import UserError
from orchestrator.embedded.files import write_private

LOOPBACK = "127.0.0.1"


def write(path: Path, *, address: str, token: str) -> None:
    """For clients: `--home` leads them here."""
    write_private(path, json.dumps({"address": address, "token": token}))


def token(path: Path) -> str:
    """The home's bearer token, made at its first start."""
    if path.exists():
        return str(json.loads(path.read_text(encoding="utf-8"))["token"])
    return secrets.token_urlsafe(32)


def free_port(wanted: int | None) -> int:
    """The wanted port, or any free one. Raises UserError when the wanted one is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, wanted or 0))
        except OSError as error:
            raise UserError(f"port {wanted} on {LOOPBACK}: {error.strerror}; give another --port") from error
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    """Does something listen there?"""
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((LOOPBACK, port)) == 0
