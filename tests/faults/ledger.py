"""The ledger as SQL shows it, without a line of the product in between."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg


@dataclass(frozen=True, kw_only=True, slots=True)
class Begun:
    """One claim of a job, by its first run."""

    job_id: int
    attempt: int
    node: str
    at: float
    """Seconds since the epoch, by the database's clock."""


class Ledger:
    """One connection, kept while the server lives: looking often must not cost what is measured its processor."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._kept: psycopg.Connection | None = None

    def ask(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Every row. Raises psycopg.OperationalError while the database is away."""
        try:
            if self._kept is None:
                self._kept = psycopg.connect(self.url, autocommit=True, connect_timeout=5)
            return self._kept.execute(query, values).fetchall()
        except psycopg.OperationalError:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the connection; the next question opens another."""
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    def try_one(self, query: str, *values: object) -> Any:
        """The first value of the first row; None as well while the database is away."""
        try:
            rows = self.ask(query, *values)
        except psycopg.OperationalError:
            return None
        return rows[0][0] if rows else None

    def nodes_online(self) -> list[str]:
        """Nodes that may be given work, seen in the last seconds."""
        try:
            return [name for (name,) in self.ask("SELECT name FROM node_status WHERE online AND state = 'ready'")]
        except psycopg.OperationalError:
            return []

    def share_done(self, campaign: int) -> float:
        """Valid runs / expected runs; 0 while the database is away."""
        done = self.try_one(
            "SELECT sum(t.valid_runs)::float8 / sum(c.replicates) FROM settings AS t JOIN campaigns AS c"
            " ON c.id = t.campaign_id WHERE c.id = %s", campaign)  # fmt: skip
        return float(done or 0.0)

    def state(self, campaign: int) -> str | None:
        """None while the database is away."""
        state: str | None = self.try_one("SELECT state FROM campaigns WHERE id = %s", campaign)
        return state

    def unanalysed(self, campaign: int) -> int | None:
        """Analyses that are due and not final."""
        query = "SELECT count(*) FROM analyses WHERE campaign_id = %s AND current AND NOT final"
        left: int | None = self.try_one(query, campaign)
        return left

    def leases(self, campaign: int) -> dict[str, int]:
        """Node -> the job it holds."""
        try:
            rows = self.ask(
                "SELECT n.name, j.id FROM jobs AS j JOIN nodes AS n ON n.id = j.node_id"
                " WHERE j.campaign_id = %s AND j.state = 'leased'", campaign)  # fmt: skip
        except psycopg.OperationalError:
            return {}
        return dict(rows)

    def begun(self, campaign: int) -> Sequence[Begun]:
        """Every claim that brought runs, in order."""
        rows = self.ask(
            "SELECT r.job_id, r.attempt, n.name, extract(epoch FROM min(r.started_at))::float8 AS at"
            " FROM runs AS r JOIN settings AS t ON t.id = r.setting_id JOIN sessions AS s ON s.id = r.session_id"
            " JOIN nodes AS n ON n.id = s.node_id WHERE t.campaign_id = %s GROUP BY r.job_id, r.attempt, n.name"
            " ORDER BY at", campaign)  # fmt: skip
        return [Begun(job_id=job, attempt=attempt, node=node, at=at) for job, attempt, node, at in rows]

    def ended_at(self, campaign: int) -> float:
        """Seconds since the epoch, by the database's clock; now, while it runs."""
        ended = self.try_one("SELECT extract(epoch FROM ended_at)::float8 FROM campaigns WHERE id = %s", campaign)
        return float(ended) if ended is not None else time.time()
