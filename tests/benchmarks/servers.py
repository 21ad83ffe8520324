"""A PostgreSQL of a benchmark's own, with fsync as in production."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg
from psycopg import sql

from orchestrator.embedded import postgres, postgres_programs, stopping
from orchestrator.embedded.accounts import service_account
from orchestrator.embedded.children import Child, end
from orchestrator.store import schema

_numbers = count()


@contextmanager
def private_postgres(**options: str) -> Iterator[postgres.Cluster]:
    """Started for this benchmark, gone with all its data afterwards, also after Ctrl-C and after `timeout`.

    `options` overrule the service's own.
    """
    with stopping.on_request(), _folder() as folder:
        account = service_account()
        cluster = postgres.prepare(
            data=folder / "postgres",
            sockets=folder / "sockets",
            programs=postgres_programs.usable(account, copy_to=folder / "programs"),
            account=account,
        )
        child = Child(postgres.part(cluster, folder / "postgres.log", **options))
        try:
            child.wait_until(lambda: postgres.ready(cluster))
            yield cluster
        finally:
            end([child])


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="ms-bench-", dir="/var/tmp"))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def migrated_database(cluster: postgres.Cluster) -> Iterator[str]:
    """The address of a fresh ledger in this server, dropped afterwards."""
    name = f"ledger_{next(_numbers)}"
    postgres.create_database(cluster, name)
    schema.upgrade(cluster.url(name))
    yield cluster.url(name)
    with psycopg.connect(cluster.url("postgres"), autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
