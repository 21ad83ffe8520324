"""Redis as a child: where its program is, how it is started, when it is ready. It carries hints and keeps nothing."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from orchestrator.contracts.errors import MissingPartError
from orchestrator.embedded.children import Part, Role
from orchestrator.fetched import REDIS_SERVER

OLDEST = (6, 2)
SOCKET = "redis.sock"


def server() -> Path:
    """A redis-server or valkey-server of at least 6.2. Raises MissingPartError when there is none."""
    program = found()
    if program is None:
        raise MissingPartError(
            "no redis-server or valkey-server >= 6.2 on PATH: run `make install`, or install redis-server"
        )
    return program


def found() -> Path | None:
    """The system's own program, else the one that `make install` fetched; None when there is neither."""
    for name in ("redis-server", "valkey-server"):
        program = shutil.which(name)
        if program and _version(Path(program)) >= OLDEST:
            return Path(program)
    return REDIS_SERVER.path if REDIS_SERVER.path.exists() else None


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
