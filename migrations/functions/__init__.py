"""The ledger's SQL functions, views and triggers, a file a noun: code, not state.

Tables change by numbered migrations. What stands here is replaced as a whole, after the tables, whenever it differs
from what a database holds: its digest is kept in `ledger.functions_digest`.
"""

from __future__ import annotations

import hashlib
import re
from importlib import resources
from typing import Protocol

_MADE = re.compile(r"^CREATE (FUNCTION|VIEW) (\w+)", re.MULTILINE)


class Cursor(Protocol):
    """What is needed of the driver's cursor."""

    def execute(self, query: str) -> object: ...


def source() -> str:
    """Everything, in the order of the files' names."""
    files = sorted(resources.files(__name__).iterdir(), key=lambda file: file.name)
    return "\n".join(file.read_text(encoding="utf-8") for file in files if file.name.endswith(".sql"))


def digest() -> str:
    """Of the source: equal digests mean equal functions."""
    return hashlib.sha256(source().encode()).hexdigest()


def drop(cursor: Cursor) -> None:
    """Drop what an earlier version made under these names, so that the tables below are free to change."""
    for kind, name in _MADE.findall(source()):
        cursor.execute(f"DROP VIEW IF EXISTS {name} CASCADE" if kind == "VIEW" else _drop_overloads(name))


def create(cursor: Cursor) -> None:
    """Make them anew, in the transaction of `drop`: nobody ever sees the ledger without its functions."""
    cursor.execute("SET LOCAL check_function_bodies = off")  # bodies name functions of files that come later
    cursor.execute(source())
    cursor.execute("SELECT grant_rights()")
    cursor.execute(f"UPDATE ledger SET functions_digest = '{digest()}'")  # noqa: S608 - our own hexadecimal digits


def _drop_overloads(name: str) -> str:
    """Arguments may have changed since: whatever bears this name in our schema goes, with the triggers that call it."""
    return f"""
        DO $$ DECLARE v_signature regprocedure; BEGIN
            FOR v_signature IN
                SELECT oid FROM pg_proc WHERE proname = '{name}' AND pronamespace = current_schema()::regnamespace
            LOOP EXECUTE format('DROP FUNCTION %s CASCADE', v_signature); END LOOP;
        END $$
    """  # noqa: S608 - a name of our own source
