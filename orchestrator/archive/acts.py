"""Archive and restore, told as stories. Whatever dies in between, a row is in the ledger or in a verified file."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from orchestrator.archive import description, folder, parquet
from orchestrator.archive.description import Description
from orchestrator.contracts.archives import Part
from orchestrator.contracts.campaigns import State
from orchestrator.contracts.errors import ConflictError
from orchestrator.store import schema
from orchestrator.store.postgres import PostgresStore, archived_tables
from orchestrator.store.postgres.archive import Ledger

Progress = Callable[[str], None]


def create(database_url: str, campaign_id: int, parent: Path, *, progress: Progress) -> tuple[Path, Description]:
    """Move an ended campaign into `parent/campaign-ID`: write, read back, compare with the ledger, then free the rows.

    Called again after an interruption it goes on where it was. Raises NotFoundError, ConflictError (it runs, its
    verdicts are not final, it is archived already), UserError (the disk), MissingPartError, SchemaError.
    """
    parquet.require()
    schema.require_current(database_url)
    ledger = Ledger(database_url)
    found = ledger.campaign(campaign_id)
    if found.archive is not None:
        return _go_on(ledger, campaign_id, found, progress)
    _refuse_unfinished(campaign_id, found)
    place = (parent / f"campaign-{campaign_id}").absolute()
    if not place.exists():
        progress("writing")
        folder.make(place, lambda partial: _write(ledger, database_url, campaign_id, found.row, partial))
    described = _described(place, database_url, campaign_id)
    progress("reading back and comparing with the ledger")
    folder.check(place, described)
    mark = {"folder": str(place), "digest": folder.digest_of(place)}
    with ledger.held(campaign_id, mark) as read:
        for rows in archived_tables.moved():
            folder.compare(described.moved[rows.table.name], read(rows), where="the ledger")
    _free(ledger, campaign_id, place, described, progress)
    return place, described


def restore(database_url: str, place: Path, *, progress: Progress) -> Description:
    """Put an archived campaign's rows back, all or nothing, and compare them with the archive; its files stay.

    Raises NotFoundError, ConflictError (another ledger, damaged, not archived here), MissingPartError, SchemaError.
    """
    parquet.require()
    schema.require_current(database_url)
    ledger = Ledger(database_url)
    described = _described(place, database_url)
    found = ledger.campaign(described.campaign_id)
    if found.archive is None:
        raise ConflictError(f"campaign {described.campaign_id} is not archived: its rows are in the ledger")
    if found.archive["digest"] != folder.digest_of(place):
        raise ConflictError(
            f"campaign {described.campaign_id} is archived in {found.archive['folder']}, not in {place}"
        )
    progress("checking the archive")
    folder.check(place, described)
    _refuse_unknown_columns(described)
    if found.has_rows:  # an archiving that was interrupted while it freed rows
        _free(ledger, described.campaign_id, place, described, progress)
    progress("writing to the ledger")
    with ledger.filling(described.campaign_id) as filling:
        for part in described.moved.values():
            filling.load(part.table, parquet.read(folder.file_of(place, part.table), part.table))
        for rows in archived_tables.moved():
            _compare_restored(described.moved[rows.table.name], rows, filling.rows(rows))
    return described


def _write(ledger: Ledger, database_url: str, campaign_id: int, row: dict[str, Any], partial: Path) -> None:
    with ledger.snapshot(campaign_id) as read:
        parts = {
            rows.table.name: folder.store(partial, rows.table, read(rows))
            for rows in (*archived_tables.moved(), *archived_tables.referred())
        }
    referred = {rows.table.name for rows in archived_tables.referred()}
    described = Description(
        modescope=version("modescope"),
        schema=str(schema.current(database_url)[0]),
        ledger=str(_uuid(database_url)),
        campaign_id=campaign_id,
        campaign=row,
        moved={name: part for name, part in parts.items() if name not in referred},
        referred={name: part for name, part in parts.items() if name in referred},
    )
    description.write(partial, described)


def _go_on(ledger: Ledger, campaign_id: int, found: Any, progress: Progress) -> tuple[Path, Description]:
    """It was marked as archived before: free what is left, or say where it is."""
    place = Path(found.archive["folder"])
    if not found.has_rows:
        raise ConflictError(f"campaign {campaign_id} is archived already, in {place}")
    described = description.read(place)
    if folder.digest_of(place) != found.archive["digest"]:
        raise ConflictError(f"{place} has changed since the campaign was archived there; nothing more is freed")
    folder.check(place, described)
    _free(ledger, campaign_id, place, described, progress)
    return place, described


def _free(ledger: Ledger, campaign_id: int, place: Path, described: Description, progress: Progress) -> None:
    """In small transactions: the service goes on meanwhile."""
    progress("freeing the rows")
    runs = described.moved["runs"].table
    for ids in parquet.column(folder.file_of(place, runs), runs, "id"):
        ledger.free_runs(campaign_id, ids)
    ledger.free_rest(campaign_id, lambda table, late: _tell_late(folder.keep_late(place, table, late), place, progress))


def _tell_late(count: int, place: Path, progress: Progress) -> None:
    if count:
        progress(f"{count} runs came in at the last moment and are kept in {place / folder.LATE}")


def _refuse_unfinished(campaign_id: int, found: Any) -> None:
    if found.state == State.RUNNING:
        raise ConflictError(f"campaign {campaign_id} is running: wait for its end, or cancel it first")
    if found.unfinished:
        raise ConflictError(
            f"campaign {campaign_id} has {found.unfinished} configurations without a final verdict: "
            "wait for the analysis worker"
        )


def _described(place: Path, database_url: str, campaign_id: int | None = None) -> Description:
    """The folder's description, if it is of this ledger and campaign."""
    described = description.read(place)
    if described.ledger != str(_uuid(database_url)):
        raise ConflictError(f"{place} came from the ledger {described.ledger}, and this one is {_uuid(database_url)}")
    if campaign_id is not None and described.campaign_id != campaign_id:
        raise ConflictError(f"{place} holds campaign {described.campaign_id}; give another folder with --to")
    return described


def _refuse_unknown_columns(described: Description) -> None:
    """What a later schema has added gets its default; what it has removed cannot be put back."""
    known = {rows.table.name: {column.name for column in rows.table.columns} for rows in archived_tables.moved()}
    for name, part in described.moved.items():
        gone = [column.name for column in part.table.columns if column.name not in known.get(name, set())]
        if gone:
            raise ConflictError(
                f"the archive's {name} have a column {gone[0]!r} that this version does not know: "
                f"restore it with Modescope {described.modescope}, then upgrade"
            )


def _compare_restored(part: Part, rows: archived_tables.Rows, batches: folder.Batches) -> None:
    if part.table == rows.table:
        folder.compare(part, batches, where="the ledger")
        return
    # Columns were added or moved since: what is compared are those that the archive has.
    places = [[column.name for column in rows.table.columns].index(column.name) for column in part.table.columns]
    folder.compare(part, ([tuple(row[p] for p in places) for row in batch] for batch in batches), where="the ledger")


def _uuid(database_url: str) -> object:
    store = PostgresStore(database_url)
    try:
        return store.ledger
    finally:
        store.close()
