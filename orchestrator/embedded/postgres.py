"""PostgreSQL as a child: the wheel's programs, run by ourselves on a Unix socket only."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from orchestrator.contracts.errors import HomeError
from orchestrator.embedded.accounts import Account, run_as
from orchestrator.embedded.children import Part, Role

USER = "modescope"
DATABASE = "modescope"

# The machine that runs this also measures: no helper processes that are not needed, no parallel queries.
SERVER_OPTIONS = {
    "listen_addresses": "",
    "port": "5432",
    "unix_socket_permissions": "0700",
    "fsync": "on",
    "io_method": "sync",
    "max_parallel_workers_per_gather": "0",
    "log_min_messages": "warning",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Cluster:
    """One PostgreSQL: its programs, its data, its socket, and whom it runs as."""

    programs: Path
    """The folder of `initdb` and `postgres`."""
    data: Path
    sockets: Path
    """A folder with mode 0700 and a short path (home.LONGEST_SOCKETS)."""
    account: Account | None
    """None: the user who starts it."""

    def url(self, database: str = DATABASE) -> str:
        """As libpq reads it."""
        return address(self.sockets, database)


def address(sockets: Path, database: str = DATABASE) -> str:
    """Where a cluster with its socket in this folder is reached, as libpq reads it."""
    return f"postgresql://{USER}@/{database}?host={quote(str(sockets))}&port=5432"


def prepare(*, data: Path, sockets: Path, programs: Path, account: Account | None) -> Cluster:
    """A cluster whose folders exist and whose data folder is initialised.

    Only folders that are made here get the account as owner. Raises HomeError.
    """
    cluster = Cluster(programs=programs, data=data, sockets=sockets, account=account)
    if not sockets.exists():
        _make_folder(sockets, account)
    if not data.exists():
        _initialise(cluster)
    return cluster


def part(cluster: Cluster, log: Path, **options: str) -> Part:
    """The server as a part; `options` overrule SERVER_OPTIONS."""
    settings = {**SERVER_OPTIONS, "unix_socket_directories": str(cluster.sockets), **options}
    words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    return Part(
        role=Role.POSTGRES,
        name="postgres",
        command=(str(cluster.programs / "postgres"), "-D", str(cluster.data), *words),
        log=log,
        environment={key: value for key, value in os.environ.items() if not key.startswith("PG")},
        account=cluster.account,
        stop_signal=signal.SIGINT,  # "fast": sessions are ended, data is written out
        grace_s=30.0,
    )


def ready(cluster: Cluster) -> bool:
    """Does it take connections?"""
    import psycopg

    try:
        psycopg.connect(cluster.url("postgres"), connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def create_database(cluster: Cluster, name: str = DATABASE) -> None:
    """Make an empty database unless it is there."""
    import psycopg
    from psycopg import sql

    with psycopg.connect(cluster.url("postgres"), autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone() is None:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))


def _initialise(cluster: Cluster) -> None:
    """Under another name first: an interrupted `initdb` leaves a folder that looks complete."""
    partial = cluster.data.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    _make_folder(partial, cluster.account)
    # Whoever may enter the socket's folder (mode 0700) is who they say they are.
    options = [f"--username={USER}", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-instructions"]
    answer = subprocess.run(
        [cluster.programs / "initdb", *options, "--pgdata", partial],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        **run_as(cluster.account),
    )
    if answer.returncode != 0:
        reasons = [line for line in answer.stderr.splitlines() if "error" in line.lower()] or [answer.stderr]
        raise HomeError(f"{partial}: PostgreSQL cannot make its data folder: {reasons[0]}")
    partial.replace(cluster.data)


def _make_folder(folder: Path, account: Account | None) -> None:
    folder.mkdir(mode=0o700)
    if account is not None:
        os.chown(folder, account.uid, account.gid)
