"""PostgreSQL and Redis as a site runs them: on TCP, with passwords, and with the users of `modescope rights`."""

from __future__ import annotations

import shlex
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg

from orchestrator import rights
from orchestrator.embedded import postgres, postgres_programs, redis
from orchestrator.embedded.accounts import service_account
from orchestrator.embedded.children import Child, Part, Role, end
from orchestrator.store import schema

ROOT = Path(__file__).parents[2]
# As on Debian: whoever is on the machine as the administrator comes in by the socket, all others show a password.
ACCESS = "local all modescope trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
NODES = ("m01", "m02")


@dataclass(frozen=True, kw_only=True)
class Site:
    """Servers, and what `modescope rights` wrote for their parts."""

    folder: Path
    owner_url: str
    secrets: Path

    def environment(self, part: str) -> dict[str, str]:
        """Of `api`, `analysis` or `node-NAME`."""
        lines = shlex.split((self.secrets / f"{part}.env").read_text())
        return dict(line.split("=", 1) for line in lines)

    def database_url(self, part: str) -> str:
        return self.environment(part)["MODESCOPE_DATABASE_URL"]

    def redis_url(self, part: str) -> str:
        return self.environment(part)["MODESCOPE_REDIS_URL"]

    def child(self, role: Role, part: str, *command: str, **environment: str) -> Child:
        """A `modescope` command as this part."""
        name = f"{role}-{part}"
        inherited = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "MODESCOPE_HOME": str(self.folder / name)}
        (self.folder / name).mkdir()
        return Child(
            Part(
                role=role,
                name=name,
                command=(sys.executable, "-m", "orchestrator.cli.main", *command),
                log=self.folder / f"{name}.log",
                environment={**inherited, **self.environment(part), **environment},
            )
        )


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@contextmanager
def site() -> Iterator[Site]:
    """Started, migrated, with roles and users."""
    folder = Path(tempfile.mkdtemp(prefix="modescope-rights-", dir="/var/tmp"))
    folder.chmod(0o711)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder)
        ports = {"postgres": free_port(), "redis": free_port()}
        secrets = folder / "secrets"
        rights.write(
            secrets,
            NODES,
            database_url=f"postgresql://127.0.0.1:{ports['postgres']}/modescope",
            redis_url=f"redis://127.0.0.1:{ports['redis']}/0",
        )
        owner_url = stack.enter_context(_postgres(folder, ports["postgres"]))
        stack.enter_context(redis_server(folder, secrets / rights.USERS_FILE, ports["redis"]))
        with psycopg.connect(owner_url, autocommit=True) as administrator:
            administrator.execute((secrets / rights.ROLES_FILE).read_text())
        schema.upgrade(owner_url)
        yield Site(folder=folder, owner_url=owner_url, secrets=secrets)


@contextmanager
def _postgres(folder: Path, port: int) -> Iterator[str]:
    account = service_account()
    cluster = postgres.prepare(
        data=folder / "postgres",
        sockets=folder / "sockets",
        programs=postgres_programs.usable(account, copy_to=folder / "programs"),
        account=account,
    )
    access = folder / "pg_hba.conf"
    access.write_text(ACCESS)
    options = {"hba_file": str(access), "listen_addresses": "127.0.0.1", "port": str(port), "fsync": "off"}
    part = postgres.part(cluster, folder / "postgres.log", **options)
    owner_url = cluster.url().replace("port=5432", f"port={port}")
    maintenance = cluster.url("postgres").replace("port=5432", f"port={port}")
    child = Child(part)
    try:
        child.wait_until(lambda: _answers(maintenance))
        with psycopg.connect(maintenance, autocommit=True) as connection:
            connection.execute("CREATE DATABASE modescope")
        yield owner_url
    finally:
        end([child])


@contextmanager
def redis_server(folder: Path, users: Path, port: int, *options: str) -> Iterator[None]:
    """The configuration of deploy/, on a port of our own."""
    ours = ("--bind", "127.0.0.1", "--port", str(port), "--aclfile", str(users), "--dir", str(folder), *options)
    part = redis.part(folder, folder / "redis.log")
    part = replace(part, command=(part.command[0], str(ROOT / "deploy" / "redis.conf"), *ours))
    child = Child(part)
    try:
        child.wait_until(lambda: listens(port))
        yield
    finally:
        end([child])


def _answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def listens(port: int) -> bool:
    with socket.socket() as knocking:
        return knocking.connect_ex(("127.0.0.1", port)) == 0
