"""Which rows are a campaign's own, and how each column is written so that it reads back as the same value.

Taken from `store.models`, so that a column that a migration adds is archived without a word here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ARRAY, BigInteger, Boolean, Double, Integer, SmallInteger, Text, Uuid
from sqlalchemy.dialects.postgresql import BYTEA, JSONB, REAL, TIMESTAMP
from sqlalchemy.types import TypeEngine

from orchestrator.contracts.archives import Column, Kind, Table
from orchestrator.store.models import Base

_OF_CAMPAIGN = "campaign_id = :campaign"
_OF_SETTINGS = "setting_id IN (SELECT id FROM settings WHERE campaign_id = :campaign)"
_OF_JOBS = "job_id IN (SELECT id FROM jobs WHERE campaign_id = :campaign)"
_SESSIONS = f"SELECT session_id FROM runs WHERE {_OF_SETTINGS}"  # noqa: S608 - as all SQL here, our own words

# In the order in which rows may come in: who is referred to stands before who refers.
_MOVED = {
    "settings": _OF_CAMPAIGN,
    "jobs": _OF_CAMPAIGN,
    "job_failures": _OF_JOBS,
    "runs": _OF_SETTINGS,
    "telemetry": _OF_CAMPAIGN,
    "analyses": _OF_CAMPAIGN,
    "repeated_flags": _OF_CAMPAIGN,
    "paces": _OF_CAMPAIGN,
    "events": _OF_CAMPAIGN,
}
# What the rows refer to, and others too: copied for the archive's readers, and neither freed nor put back.
_REFERRED = {
    "engine_builds": f"id IN (SELECT engine_build_id FROM runs WHERE {_OF_SETTINGS})",  # noqa: S608
    "sessions": f"id IN ({_SESSIONS})",
    "nodes": f"id IN (SELECT node_id FROM sessions WHERE id IN ({_SESSIONS}))",  # noqa: S608
}
_OTHER_ORDER = {"runs": ("setting_id", "replicate", "id")}


@dataclass(frozen=True, kw_only=True, slots=True)
class Rows:
    """A table and which of its rows belong to a campaign."""

    table: Table
    where: str
    """An SQL condition with the parameter `campaign`."""
    order: tuple[str, ...]
    """Columns that say which row comes first; they are unique."""

    @property
    def query(self) -> str:
        """Reads every column in the form that `Kind` describes."""
        columns = ", ".join(_AS_READ[column.kind].format(f'"{column.name}"') for column in self.table.columns)
        order = ", ".join(f'"{name}"' for name in self.order)
        return f"SELECT {columns} FROM {self.table.name} WHERE {self.where} ORDER BY {order}"  # noqa: S608 - our own names


_AS_READ = {
    Kind.INTEGER: "{}",
    Kind.NUMBER: "{}::float8",
    Kind.TEXT: "{}",
    Kind.BOOLEAN: "{}",
    Kind.BYTES: "{}",
    Kind.UUID: "{}::text",
    Kind.JSON: "{}::text",
    Kind.TIME: "(extract(epoch FROM {}) * 1000000)::bigint",
    Kind.INTEGERS: "{}",
    Kind.NUMBERS: "{}::float8[]",
    Kind.TEXTS: "{}",
}
_KINDS: tuple[tuple[type[TypeEngine[Any]], Kind], ...] = (
    (JSONB, Kind.JSON),
    (TIMESTAMP, Kind.TIME),
    (Uuid, Kind.UUID),
    (BYTEA, Kind.BYTES),
    (Boolean, Kind.BOOLEAN),
    (BigInteger, Kind.INTEGER),
    (SmallInteger, Kind.INTEGER),
    (Integer, Kind.INTEGER),
    (Double, Kind.NUMBER),
    (REAL, Kind.NUMBER),
    (Text, Kind.TEXT),
)
_LISTS = {Kind.INTEGER: Kind.INTEGERS, Kind.NUMBER: Kind.NUMBERS, Kind.TEXT: Kind.TEXTS}


def moved() -> list[Rows]:
    """What goes into an archive and out of the ledger, in the order in which it may come back."""
    return [_rows(name, where) for name, where in _MOVED.items()]


def referred() -> list[Rows]:
    """What an archive holds beside, so that it can be read without the ledger."""
    return [_rows(name, where) for name, where in _REFERRED.items()]


def counters() -> list[str]:
    """Tables of counts by campaign, which stay: progress is told from them."""
    tables = (table for table in Base.metadata.sorted_tables if "campaign_id" in table.primary_key.columns)
    return [table.name for table in tables if table.name not in _MOVED]


def _rows(name: str, where: str) -> Rows:
    table = Base.metadata.tables[name]
    columns = tuple(Column(name=column.name, kind=_kind(column.type)) for column in table.columns)
    key = tuple(column.name for column in table.primary_key.columns)
    return Rows(table=Table(name=name, columns=columns), where=where, order=_OTHER_ORDER.get(name, key))


def _kind(of: TypeEngine[Any]) -> Kind:
    if isinstance(of, ARRAY):
        return _LISTS[_kind(of.item_type)]
    return next(kind for sql_type, kind in _KINDS if isinstance(of, sql_type))
