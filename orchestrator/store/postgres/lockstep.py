"""Rounds that were begun together, and who held them up."""

from __future__ import annotations

from dataclasses import asdict

from sqlalchemy import text

from orchestrator.contracts.lockstep import CriticalNode, Finish
from orchestrator.store.postgres.connection import Database

_FINISHED = text("""
    SELECT r.id AS run, j.round, extract(epoch FROM j.start_at)::float8 AS start_at, j.setting_id, n.name AS node,
           extract(epoch FROM r.started_at)::float8 AS started_at, r.elapsed_s
    FROM (SELECT * FROM jobs WHERE campaign_id = :campaign AND done_at IS NOT NULL
          ORDER BY done_at DESC LIMIT :jobs) AS j
    JOIN runs AS r ON r.setting_id = j.setting_id AND r.replicate = j.first_replicate AND r.validity = 'valid'
    JOIN sessions AS s ON s.id = r.session_id JOIN nodes AS n ON n.id = s.node_id
    WHERE j.start_at IS NOT NULL
    ORDER BY j.start_at, n.name
""")
_KEEP = text("SELECT keep_critical(:campaign, :node, :named, :since, :rounds, :critical, :chance, :differs, :message)")
_CRITICAL = text("""
    SELECT n.name AS node, k.named, extract(epoch FROM k.since)::float8 AS since, k.rounds, k.critical, k.chance,
           k.differs
    FROM critical_nodes AS k JOIN nodes AS n ON n.id = k.node_id WHERE k.campaign_id = :campaign ORDER BY n.name
""")


class PostgresLockstep:
    """See `ports.Lockstep`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def finished(self, campaign_id: int, *, jobs: int) -> list[Finish]:
        """Of the newest jobs."""
        with self._database.reading() as connection:
            rows = connection.execute(_FINISHED, {"campaign": campaign_id, "jobs": jobs})
            return [Finish(**row._mapping) for row in rows]

    def keep(self, campaign_id: int, found: CriticalNode, message: str) -> bool:
        """What was found; True when it is news."""
        named = {"campaign": campaign_id, "message": message, **asdict(found)}
        with self._database.writing() as connection:
            return bool(connection.execute(_KEEP, named).scalar_one())

    def critical(self, campaign_id: int) -> list[CriticalNode]:
        """By name."""
        with self._database.reading() as connection:
            return [CriticalNode(**row._mapping) for row in connection.execute(_CRITICAL, {"campaign": campaign_id})]
