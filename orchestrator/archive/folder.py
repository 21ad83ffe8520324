"""An archive's folder: there as a whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from orchestrator.archive import description, parquet
from orchestrator.archive.description import Description
from orchestrator.archive.digest import Digest
from orchestrator.contracts.archives import Part, Table
from orchestrator.contracts.errors import ConflictError, UserError

Batches = Iterator[Sequence[tuple[Any, ...]]]
PARTIAL = ".partial"
LATE = "late_runs.parquet"


def make(folder: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a folder that gets its name when everything in it is on the disk."""
    partial = folder.with_name(folder.name + PARTIAL)
    try:
        shutil.rmtree(partial, ignore_errors=True)  # of an act that was interrupted
        partial.mkdir(mode=0o700, parents=True)
        write(partial)
        _sync(partial)
        partial.rename(folder)
        _sync(folder.parent)
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise UserError(f"{error.filename or folder}: {error.strerror}; give another folder with --to") from error


def store(folder: Path, table: Table, batches: Batches) -> Part:
    """Write one table's file; what it must hold from now on."""
    counted = Digest()
    file_sha256 = parquet.write(file_of(folder, table), table, counted.over(batches))
    return Part(table=table, rows=counted.rows, values_sha256=counted.value, file_sha256=file_sha256)


def check(folder: Path, described: Description) -> None:
    """Read every file back. Raises ConflictError naming the first that is not as described."""
    for part in (*described.moved.values(), *described.referred.values()):
        path = file_of(folder, part.table)
        if not path.exists():
            raise ConflictError(f"{path} is missing: this archive is damaged")
        if parquet.sha256(path) != part.file_sha256:
            raise ConflictError(f"{path} has changed since it was written: this archive is damaged")
        compare(part, parquet.read(path, part.table), where=str(path))


def compare(part: Part, batches: Batches, *, where: str) -> None:
    """Raise ConflictError unless these are the rows that the description promises."""
    found = Digest().all(batches)
    if (found.rows, found.value) != (part.rows, part.values_sha256):
        raise ConflictError(
            f"{where}: {found.rows} rows of {part.table.name} differ from the {part.rows} of the archive; "
            "nothing was changed"
        )


def file_of(folder: Path, table: Table) -> Path:
    """A Parquet file per table."""
    return folder / f"{table.name}.parquet"


def keep_late(folder: Path, table: Table, batches: Batches) -> int:
    """Runs that came in at the last moment are kept beside the archive; how many there were."""
    late = [batch for batch in batches if batch]
    if late:
        parquet.write(folder / LATE, table, late)
        _sync(folder)
    return sum(len(batch) for batch in late)


def digest_of(folder: Path) -> str:
    """Of the description, and by it of everything."""
    return parquet.sha256(folder / description.NAME)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
