"""Flags that a re-run measured again, leased like samples to be fitted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, select, text

from orchestrator.contracts.analyses import FlagBatch, LeasedFlag, RepeatedFlag
from orchestrator.store.models import RepeatedFlag as Row
from orchestrator.store.postgres.analyses import fitted_by_id
from orchestrator.store.postgres.connection import Database
from orchestrator.store.rules import ANALYSIS_LEASE_S

_PLAN = text("""
    WITH planned AS (
        SELECT again.id AS analysis_id, first.id AS first_id, p.dip_q
        FROM unnest(CAST(:settings AS integer[]), CAST(:first_settings AS integer[]), CAST(:modes AS text[]),
                    CAST(:dip_qs AS float8[])) AS p (setting_id, first_setting_id, mode, dip_q)
        JOIN analyses AS again ON again.setting_id = p.setting_id AND again.mode = p.mode AND again.current
        JOIN analyses AS first ON first.setting_id = p.first_setting_id AND first.mode = p.mode AND first.current
    ), dropped AS (
        DELETE FROM repeated_flags
        WHERE campaign_id = :campaign AND analysis_id NOT IN (SELECT analysis_id FROM planned)
    )
    INSERT INTO repeated_flags AS f (campaign_id, analysis_id, first_id, dip_q) SELECT :campaign, planned.* FROM planned
    ON CONFLICT (analysis_id) DO UPDATE
    SET first_id = EXCLUDED.first_id, dip_q = EXCLUDED.dip_q, token = NULL, lease_until = NULL, done = false,
        confirmation = NULL
    WHERE (f.first_id, f.dip_q) IS DISTINCT FROM (EXCLUDED.first_id, EXCLUDED.dip_q)
""")
_LEASE = text("""
    UPDATE repeated_flags SET token = :token, lease_until = clock_timestamp() + make_interval(secs => :lease_s)
    WHERE analysis_id IN (
        SELECT f.analysis_id FROM repeated_flags AS f
        WHERE f.campaign_id = :campaign AND NOT f.done AND coalesce(f.lease_until < clock_timestamp(), true)
          AND NOT EXISTS (SELECT FROM analyses AS a WHERE a.id IN (f.analysis_id, f.first_id)
                          AND (NOT a.current OR a.state <> 'done'))
        ORDER BY f.analysis_id LIMIT :most FOR UPDATE SKIP LOCKED)
    RETURNING analysis_id, first_id, dip_q
""")
_RENEW = text("""
    UPDATE repeated_flags SET lease_until = clock_timestamp() + make_interval(secs => :lease_s)
    WHERE analysis_id = ANY (:ids) AND token = :token AND NOT done
""")
_STORE = text("""
    UPDATE repeated_flags AS f SET done = true, confirmation = CAST(k.confirmation AS jsonb)
    FROM unnest(CAST(:ids AS bigint[]), CAST(:confirmations AS text[])) AS k (id, confirmation)
    WHERE f.analysis_id = k.id AND f.token = :token AND NOT f.done
""")


class PostgresFlags:
    """Plan, lease, store, look."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def plan(self, campaign_id: int, flags: Sequence[RepeatedFlag]) -> None:
        """Exactly these are to be judged; what was judged of them stays so."""
        named = {
            "settings": [flag.setting_id for flag in flags],
            "first_settings": [flag.first_setting_id for flag in flags],
            "modes": [flag.mode for flag in flags],
            "dip_qs": [flag.dip_q for flag in flags],
        }
        with self._database.calling() as connection:
            connection.execute(_PLAN, {"campaign": campaign_id, **named})

    def lease(self, campaign_id: int, *, limit: int, lease_s: float = ANALYSIS_LEASE_S) -> FlagBatch | None:
        """Some that nobody has in hand."""
        token = uuid4()
        with self._database.writing() as connection:
            named = {"campaign": campaign_id, "token": token, "most": limit, "lease_s": lease_s}
            rows = sorted(connection.execute(_LEASE, named).all(), key=lambda row: int(row.analysis_id))
            return FlagBatch(token=token, flags=_with_fits(connection, rows)) if rows else None

    def renew(self, batch: FlagBatch, *, lease_s: float = ANALYSIS_LEASE_S) -> int:
        """Prolong the leases that are still the batch's own."""
        ids = [one.again.id for one in batch.flags]
        with self._database.calling() as connection:
            return connection.execute(_RENEW, {"ids": ids, "token": batch.token, "lease_s": lease_s}).rowcount

    def store(self, batch: FlagBatch, found: Mapping[int, Mapping[str, Any] | None]) -> int:
        """Keep confirming verdicts of flags that are still the batch's own; how many were kept."""
        confirmations = [None if one is None else json.dumps(one) for one in found.values()]
        named = {"ids": list(found), "confirmations": confirmations, "token": batch.token}
        with self._database.calling() as connection:
            return connection.execute(_STORE, named).rowcount

    def found(self, campaign_id: int) -> Mapping[int, Mapping[str, Any] | None] | None:
        """The confirming verdicts by analysis id; None while one is open."""
        query = select(Row.analysis_id, Row.done, Row.confirmation).where(Row.campaign_id == campaign_id)
        with self._database.reading() as connection:
            rows = connection.execute(query).all()
        return {row.analysis_id: row.confirmation for row in rows} if all(row.done for row in rows) else None


def _with_fits(connection: Connection, rows: Sequence[Any]) -> tuple[LeasedFlag, ...]:
    fits = fitted_by_id(connection, [number for row in rows for number in (row.analysis_id, row.first_id)])
    return tuple(LeasedFlag(first=fits[row.first_id], again=fits[row.analysis_id], dip_q=row.dip_q) for row in rows)
