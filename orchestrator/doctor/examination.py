"""All checks, in the order in which one depends on the other."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.contracts.errors import UnavailableError
from orchestrator.doctor import ledger, machine, rights
from orchestrator.doctor.findings import Finding
from orchestrator.settings import Settings
from orchestrator.store.postgres import inspection


def examine(settings: Settings, *, repair: bool = False) -> tuple[list[Finding], bool]:
    """What was found, and whether everything could be checked. `repair` sets wrong counters right."""
    try:
        schema = ledger.schema_of(settings.database_url)
    except UnavailableError as away:
        do = "start it (`modescope up`, or your PostgreSQL), and check MODESCOPE_DATABASE_URL"
        return [Finding(part="database", seen=str(away), do=do), *_without_ledger(settings)], False
    if not schema.fine:
        return [schema, *_without_ledger(settings)], False
    return [schema, *_with_ledger(settings, repair=repair)], True


def _with_ledger(settings: Settings, *, repair: bool) -> Iterator[Finding]:
    seen = inspection.inspect(settings.database_url)
    yield from machine.queue(settings.redis_url, seen)
    yield from rights.database(settings.database_url)
    yield from rights.redis(settings.redis_url)
    yield ledger.clock(seen)
    yield ledger.controller(seen)
    yield from ledger.agents(seen)
    yield ledger.leases(seen)
    yield from ledger.counted(settings.database_url, repair=repair)
    yield machine.disk(settings.home)
    yield from machine.spools(settings.home)


def _without_ledger(settings: Settings) -> Iterator[Finding]:
    yield from machine.queue(settings.redis_url, None)
    yield machine.disk(settings.home)
    yield from machine.spools(settings.home)
