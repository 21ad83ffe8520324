"""Checks of who is let in, and as whom: as this process's own addresses show it."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit

from redis import RedisError

from orchestrator.doctor.findings import Finding
from orchestrator.queue import redis_client
from orchestrator.settings import is_loopback
from orchestrator.store.postgres import inspection
from orchestrator.store.postgres.inspection import Admission


def database(database_url: str) -> Iterator[Finding]:
    """As whom we come in, and by what proof. Raises UnavailableError."""
    seen = inspection.admission(database_url)
    yield _role(seen)
    if not seen.by_socket:
        yield _proof(seen)


def _role(seen: Admission) -> Finding:
    if seen.by_socket and not seen.divided:
        return Finding(part="rights", seen=f"all parts are {seen.role}, on a socket behind its folder's mode")
    if not seen.divided:
        do = "run `modescope rights`, and what it writes: who breaks into an agent can change every run"
        return Finding(part="rights", seen=f"all parts are {seen.role}", do=do)
    if seen.owner and not seen.by_socket:
        do = "start parts with the environment files of `modescope rights`; keep the owner for `modescope db`"
        return Finding(part="rights", seen=f"comes in as {seen.role}, who owns the tables", do=do)
    return Finding(part="rights", seen=f"comes in as {seen.role}; agents and analysis workers have roles of their own")


def _proof(seen: Admission) -> Finding:
    if not seen.by_scram:
        do = "let hosts in by scram-sha-256 alone: pg_hba.conf, and password_encryption before passwords are set"
        return Finding(part="password", seen="the database does not ask for SCRAM", do=do)
    return Finding(part="password", seen="the database asks for SCRAM")


def redis(redis_url: str) -> Iterator[Finding]:
    """Does Redis let strangers in, and is what we tell it secret? Nothing where it cannot be asked."""
    address = urlsplit(redis_url)
    if address.scheme not in ("redis", "rediss"):
        return  # a Unix socket, behind its folder's mode
    stranger = urlunsplit(address._replace(netloc=address.netloc.rpartition("@")[2]))
    try:
        with redis_client(stranger) as client:
            client.ping()
    except (RedisError, OSError):
        yield Finding(part="redis users", seen="nobody comes in without a password")
    else:
        do = "give it the users that `modescope rights` writes: deploy/redis.conf"
        yield Finding(part="redis users", seen="Redis lets anybody in", do=do)
    if address.scheme == "redis" and not is_loopback(address.hostname or ""):
        do = "use rediss://, as in deploy/redis-tls.conf, unless nobody else is on this network"
        yield Finding(part="redis users", seen="passwords go to Redis in the clear", do=do)
