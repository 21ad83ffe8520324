"""The home folder: one service at a time, of a format and a PostgreSQL that this version knows."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.contracts.errors import HomeError
from orchestrator.embedded.accounts import service_account
from orchestrator.embedded.files import write_private

FORMAT = 1
"""Raised when an older Modescope could no longer use the folder."""
LONGEST_SOCKETS = 107 - len("/postgres.run/.s.PGSQL.5432.lock")
"""Bytes: the path of a Unix socket has at most 107."""
SHORT = Path("/var/tmp")  # noqa: S108 - only the parent of a private folder that mkdtemp makes
"""Where sockets go when the path of a home is longer than that."""
SYSTEM_DATA = Path("/var/lib")
"""Where root's PostgreSQL keeps its data: the account it runs as may not enter root's home."""
ELSEWHERE = "modescope-"
"""How the name of every folder begins that a home keeps outside itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Home:
    """Where one embedded service keeps everything."""

    folder: Path
    data: Path
    """Parent of PostgreSQL's data folder; `folder` itself, but for root."""
    sockets: Path
    """Parent of the folders with Unix sockets; a short path."""

    @property
    def postgres_sockets(self) -> Path:
        return self.sockets / "postgres.run"

    @property
    def redis_sockets(self) -> Path:
        return self.sockets / "redis.run"

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    @property
    def endpoint(self) -> Path:
        return self.folder / "endpoint.json"

    @property
    def journal(self) -> Path:
        return self.folder / "children.json"


@contextmanager
def opened(folder: Path, *, postgres_major: int) -> Iterator[Home]:
    """Hold the home while a service runs in it; made at first use. Raises HomeError."""
    with _locked(_made(folder)):
        yield _enter(folder, postgres_major)


def found(folder: Path) -> Home:
    """A home that a service has used, to look at while it may be in use. Raises HomeError where there is none."""
    record = folder / "home.json"
    if not record.exists():
        raise HomeError(f"no service has run in {folder}: give --home, or set MODESCOPE_DATABASE_URL")
    kept = _read(record)
    data = Path(str(kept.get("data", folder)))
    return Home(folder=folder, data=data, sockets=_sockets(kept, data))


def discard(folder: Path) -> None:
    """Remove a home for good, with the database that root keeps elsewhere; for homes of tests and demonstrations.

    Raises HomeError when a service runs in it.
    """
    record = folder / "home.json"
    with _locked(folder):
        found = _read(record) if record.exists() else {}
        elsewhere = {Path(str(found[place])) for place in ("data", "sockets") if place in found} - {folder}
        for place in elsewhere:
            if place.name.startswith(ELSEWHERE):  # whatever the record says, remove only what we named
                shutil.rmtree(place)
        shutil.rmtree(folder)


def _made(folder: Path) -> Path:
    """The mode of a folder that is there already is its owner's business."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / "logs").mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise HomeError(f"{error.filename}: {error.strerror}; give another --home") from error
    if folder.stat().st_uid != os.geteuid():
        raise HomeError(f"{folder} belongs to another user; give another --home")
    return folder


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """The kernel frees the lock when its holder dies; children do not inherit it."""
    with (folder / "lock").open("a+", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read().strip()
            raise HomeError(f"{folder} is in use by process {holder}; stop it first, or give another --home") from None
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        yield


def _enter(folder: Path, postgres_major: int) -> Home:
    record = folder / "home.json"
    found = _read(record) if record.exists() else {"format": FORMAT, "postgres": postgres_major}
    _refuse_foreign(folder, found, postgres_major)
    data = Path(str(found["data"])) if "data" in found else _new_data(folder)
    home = Home(folder=folder, data=data, sockets=_sockets(found, data))
    kept = {"format": FORMAT, "postgres": postgres_major, "data": str(home.data), "sockets": str(home.sockets)}
    write_private(record, json.dumps(kept))
    return home


def _read(record: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(record.read_text(encoding="utf-8")))
    except (TypeError, ValueError) as error:
        raise HomeError(f"{record} cannot be read ({error}); give another --home") from error


def _refuse_foreign(folder: Path, found: dict[str, Any], postgres_major: int) -> None:
    made_as, with_postgres = found.get("format"), found.get("postgres")
    if made_as != FORMAT:
        raise HomeError(
            f"{folder} was made by another version of Modescope (home format {made_as}, this one knows {FORMAT}); "
            "use that version, or give another --home"
        )
    if with_postgres != postgres_major:
        raise HomeError(
            f"{folder} holds a database of PostgreSQL {with_postgres}, this Modescope brings {postgres_major}; "
            "use the Modescope that made it, or give another --home"
        )


def _new_data(folder: Path) -> Path:
    """A name that is never used twice: a home that was removed and made again begins with an empty ledger."""
    if service_account() is None:
        return folder
    data = SYSTEM_DATA / f"{ELSEWHERE}{secrets.token_hex(4)}"
    data.mkdir()
    data.chmod(0o711)  # whatever the umask says, the account must pass through to its own folders
    (data / "home").write_text(f"{folder}\n", encoding="utf-8")
    return data


def _sockets(found: dict[str, Any], data: Path) -> Path:
    """Beside the data, or in a short folder of ours where that path is too long for a socket."""
    if len(os.fsencode(data)) <= LONGEST_SOCKETS:
        return data
    recorded = Path(str(found.get("sockets", data)))
    if recorded != data and recorded.exists() and recorded.stat().st_uid == os.geteuid():
        return recorded
    return Path(tempfile.mkdtemp(prefix=ELSEWHERE, dir=SHORT))
