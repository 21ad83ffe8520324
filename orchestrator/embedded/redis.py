"""Redis as a child: where its program is, how it is started, when it is ready. It carries hints and keeps nothing."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from orchestrator.contracts.errors import MissingPartError
from orchestrator.embedded.children import Part, Role

OLDEST = (6, 2)
SOCKET = "redis.sock"


def unpacked_server() -> Path:
    """Where `make install` puts the program when the system has none."""
    return Path(sys.prefix) / "lib" / "modescope" / "redis-server"


def server() -> Path:
    """A redis-server or valkey-server of at least 6.2: the system's, else the unpacked one.

    Raises MissingPartError when there is neither.
    """
    for name in ("redis-server", "valkey-server"):
        found = shutil.which(name)
        if found and _version(Path(found)) >= OLDEST:
            return Path(found)
    if unpacked_server().exists():
        return unpacked_server()
    raise MissingPartError(
        "no redis-server or valkey-server >= 6.2 on PATH: run `make install`, or install redis-server"
    )


def part(folder: Path, log: Path) -> Part:
    """The server on a Unix socket in `folder` (mode 0700): no TCP, nothing written to disk."""
    options = {
        "--port": "0",
        "--unixsocket": str(folder / SOCKET),
        "--unixsocketperm": "700",
        "--dir": str(folder),
        "--save": "",
        "--appendonly": "no",
        "--daemonize": "no",
    }
    words = [word for option in options.items() for word in option]
    return Part(role=Role.REDIS, name="redis", command=(str(server()), *words), log=log, grace_s=5.0)


def broker_url(folder: Path) -> str:
    """As kombu, and so Modescope's settings, write it."""
    return f"redis+socket://{folder / SOCKET}"


def ready(folder: Path) -> bool:
    """Does it answer?"""
    from redis import Redis
    from redis.exceptions import RedisError

    with Redis(unix_socket_path=str(folder / SOCKET), socket_timeout=1.0) as client:
        try:
            return bool(client.ping())
        except RedisError:
            return False


def _version(program: Path) -> tuple[int, ...]:
    """From `Redis server v=6.2.14 sha=...`."""
    answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, timeout=10)
    found = re.search(r"v=(\d+)\.(\d+)", answer.stdout)
    return tuple(int(number) for number in found.groups()) if found else (0, 0)
