"""What an operator asks of the ledger when something seems wrong. Reads one database; not a port of the service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg
from sqlalchemy import text

from orchestrator.store.postgres.connection import CONNECT_TIMEOUT_S, Database


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentSeen:
    """A node, and the version of its agent."""

    name: str
    state: str
    reason: str | None
    online: bool
    seen_s_ago: float | None
    version: str | None
    """None: no agent has a session."""
    facts: dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Inspection:
    """The ledger at one moment."""

    ledger: str
    now: float
    """Seconds since the epoch, by the database's clock."""
    reconciled_s_ago: float
    """A controller does so every half second."""
    running: int
    """Campaigns that have not ended and are not paused."""
    agents: tuple[AgentSeen, ...]
    dead_leases: tuple[str, ...]
    """Leases that ran out and that nobody took back: `job 17 on m01, 40 s ago`."""
    offers: dict[int, str]
    """Job -> node, of the offered jobs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Admission:
    """As whom, and how, an address lets us in."""

    role: str
    owner: bool
    """The role owns the tables, or may become who does."""
    divided: bool
    """Agents, analysis workers and the API have roles of their own here."""
    by_socket: bool
    by_scram: bool


_ADMISSION = text("""
    SELECT session_user::text AS role, to_regrole('modescope_agent') IS NOT NULL AS divided,
           pg_has_role(session_user, relowner, 'MEMBER') AS owner
    FROM pg_class WHERE oid = 'ledger'::regclass
""")
_LEDGER = text("""
    SELECT id::text AS ledger, extract(epoch FROM clock_timestamp())::float8 AS now,
           extract(epoch FROM clock_timestamp() - reconciled_at)::float8 AS reconciled_s_ago,
           (SELECT count(*) FROM campaigns WHERE state = 'running' AND NOT paused) AS running
    FROM ledger
""")
_AGENTS = text("""
    SELECT n.name, n.state, n.reason, n.online, s.version, n.facts,
           extract(epoch FROM clock_timestamp() - n.seen_at)::float8 AS seen_s_ago
    FROM node_status AS n LEFT JOIN sessions AS s ON s.id = n.session_id ORDER BY n.name
""")
_DEAD = text("""
    SELECT format('job %s on %s, %s s ago', j.id, n.name,
                  round(extract(epoch FROM clock_timestamp() - j.lease_until))) AS lease
    FROM jobs AS j JOIN nodes AS n ON n.id = j.node_id
    WHERE j.state = 'leased' AND j.lease_until < clock_timestamp() - interval '5 s' ORDER BY j.id
""")
_OFFERS = text("SELECT j.id, n.name FROM jobs AS j JOIN nodes AS n ON n.id = j.node_id WHERE j.state = 'offered'")


def inspect(database_url: str) -> Inspection:
    """Raises UnavailableError."""
    with Database(database_url).reading() as connection:
        ledger = connection.execute(_LEDGER).one()
        return Inspection(
            **ledger._mapping,
            agents=tuple(AgentSeen(**row._mapping) for row in connection.execute(_AGENTS)),
            dead_leases=tuple(connection.execute(_DEAD).scalars()),
            offers={row.id: row.name for row in connection.execute(_OFFERS)},
        )


def admission(database_url: str) -> Admission:
    """Raises UnavailableError."""
    with Database(database_url).reading() as connection:
        driver = connection.connection.driver_connection
        by_socket = isinstance(driver, psycopg.Connection) and driver.info.host.startswith("/")
        row = connection.execute(_ADMISSION).one()
    return Admission(**row._mapping, by_socket=by_socket, by_scram=_takes_scram(database_url))


def _takes_scram(database_url: str) -> bool:
    """Is SCRAM the proof it asks for? Then it has an account of the password that opens nothing elsewhere."""
    try:
        psycopg.connect(database_url, connect_timeout=CONNECT_TIMEOUT_S, require_auth="scram-sha-256").close()
    except psycopg.OperationalError:
        return False
    return True
