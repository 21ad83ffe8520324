"""Backup of a ledger with PostgreSQL's own programs: `pg_dump` and `pg_restore`, as they come with Modescope.

`pg_dump` reads one snapshot, so a dump taken in the middle of a campaign is whole. Whatever came into the ledger
after it is measured again, but for what still lies in the agents' spools.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from orchestrator.contracts.errors import ConflictError, UserError
from orchestrator.embedded import postgres_programs
from orchestrator.store import schema

PARTIAL = ".partial"


def dump(database_url: str, file: Path) -> None:
    """Write the whole database into one file, which gets its name when it is complete. Raises UserError."""
    partial = file.with_name(file.name + PARTIAL)
    _run("pg_dump", database_url, "--format=custom", "--no-owner", "--no-privileges", f"--file={partial}")
    with partial.open("rb") as written:
        os.fsync(written.fileno())
    partial.replace(file)


def restore(database_url: str, file: Path) -> None:
    """Fill a database that holds no campaign, all or nothing, and bring its schema up to date.

    Ids of settings and jobs go on far above those of the dump: a run that was measured after it must never fit a
    campaign that is submitted now. Raises ConflictError for a database with campaigns, UserError for a bad file.
    """
    if not file.is_file():
        raise UserError(f"{file}: no such file")
    _run("pg_restore", None, "--list", str(file))
    schema.clear(database_url)
    _run(
        "pg_restore",
        database_url,
        "--single-transaction",
        "--exit-on-error",
        "--no-owner",
        "--no-privileges",
        str(file),
    )
    schema.leave_ids_behind(database_url)
    schema.upgrade(database_url)


def _run(program: str, database_url: str | None, *arguments: str) -> None:
    """The password goes by the environment: everybody may read a command line."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    target: list[str] = []
    if database_url is not None:
        address, password = _without_password(database_url)
        target = [f"--dbname={address}"]
        if password is not None:
            environment["PGPASSWORD"] = password
    command = [str(postgres_programs.installed() / program), *target, *arguments]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        lines = ended.stderr.strip().splitlines() or [f"exit status {ended.returncode}"]
        raise (ConflictError if "already exists" in lines[0] else UserError)(lines[0])


def _without_password(database_url: str) -> tuple[str, str | None]:
    address = urlsplit(database_url)
    if address.password is None:
        return database_url, None
    credentials, _, host = address.netloc.rpartition("@")
    user = credentials.partition(":")[0]
    return urlunsplit(address._replace(netloc=f"{user}@{host}")), unquote(address.password)
