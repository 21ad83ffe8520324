"""Lists of campaigns and nodes with their counters, each in one statement."""

from __future__ import annotations

from typing import Any

from sqlalchemy import text

from orchestrator.contracts.errors import NotFoundError
from orchestrator.contracts.figures import Figures
from orchestrator.contracts.overviews import PACE_SHOWN_S, PACE_WINDOW_S, NodeWork, Overview, Pace
from orchestrator.store.postgres import rows
from orchestrator.store.postgres.connection import Database
from orchestrator.store.postgres.figures import figures

_NEWEST_ROOTS = """
    SELECT id FROM campaigns WHERE parent_id IS NULL AND (CAST(:before AS integer) IS NULL OR id < :before)
    ORDER BY id DESC LIMIT :most
"""
_ROOT_OF = """
    WITH RECURSIVE line AS (
        SELECT id, parent_id FROM campaigns WHERE id = :campaign
        UNION ALL SELECT p.id, p.parent_id FROM line AS l JOIN campaigns AS p ON p.id = l.parent_id
    )
    SELECT id FROM line WHERE parent_id IS NULL
"""
# The study itself, which may be long, stays where it is.
_FAMILIES = """
    WITH RECURSIVE roots AS ({roots}), family AS (
        SELECT id AS root_id, id FROM roots
        UNION ALL SELECT f.root_id, c.id FROM family AS f JOIN campaigns AS c ON c.parent_id = f.id
    )
    SELECT f.root_id, c.id, c.name, c.state, c.paused, c.parent_id, c.engine, c.factors, c.replicates, c.setting_count,
           c.configuration_count, c.expected_runs, c.created_at, c.ended_at, c.missing, c.archive, c.growth,
           c.analysis_version, jsonb_exists(c.study, 'canaries') AS has_canaries,
           r.valid, r.invalid, coalesce(a.analysed, 0) AS analysed, coalesce(v.verdicts, '{{}}') AS verdicts
    FROM family AS f JOIN campaigns AS c USING (id)
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(h.valid), 0)::bigint AS valid, coalesce(sum(h.invalid), 0)::bigint AS invalid
        FROM shares AS h WHERE h.campaign_id = c.id) AS r
    CROSS JOIN LATERAL (
        SELECT sum(k.analyses) AS analysed FROM analysis_counts AS k
        WHERE k.campaign_id = c.id AND k.state = 'done') AS a
    CROSS JOIN LATERAL (
        SELECT jsonb_object_agg(g.verdict, g.analyses) AS verdicts FROM (
            SELECT k.verdict, sum(k.analyses) AS analyses FROM analysis_counts AS k
            WHERE k.campaign_id = c.id AND k.verdict <> '' GROUP BY k.verdict HAVING sum(k.analyses) > 0) AS g) AS v
    ORDER BY f.root_id DESC, c.id
"""
_PAGE = text(_FAMILIES.format(roots=_NEWEST_ROOTS))
_FAMILY = text(_FAMILIES.format(roots=_ROOT_OF))

_PACE = text("""
    SELECT n.name, extract(epoch FROM p.slice)::float8 AS slice, sum(p.valid)::float8 AS valid,
           extract(epoch FROM c.until)::float8 AS until,
           coalesce(extract(epoch FROM c.until - c.first_claim_at), 0)::float8 AS elapsed_s  -- no claim: imported
    FROM (
        SELECT id, first_claim_at, coalesce(ended_at, clock_timestamp()) AS until FROM campaigns WHERE id = :campaign
    ) AS c
    JOIN paces AS p ON p.campaign_id = c.id AND p.slice > c.until - make_interval(secs => :shown)
    LEFT JOIN nodes AS n ON n.id = p.node_id AND p.slice > c.until - make_interval(secs => :window)
    GROUP BY GROUPING SETS ((n.name, c.until, c.first_claim_at), (p.slice, c.until, c.first_claim_at))
""")
_SET_ASIDE = text("""
    SELECT coalesce(reason, 'unknown') AS reason, count(*) AS jobs FROM jobs
    WHERE campaign_id = :campaign AND state = 'set_aside' GROUP BY 1 ORDER BY 2 DESC, 1
""")
_NODES = text("""
    SELECT n.name AS node, j.campaign_id, coalesce(h.valid, 0) AS valid, coalesce(h.invalid, 0) AS invalid,
           coalesce(p.last_minute, 0) AS last_minute, coalesce(p.last_ten_minutes, 0) AS last_ten_minutes
    FROM nodes AS n
    LEFT JOIN jobs AS j ON j.node_id = n.id AND j.state = 'leased'
    LEFT JOIN (
        SELECT node_id, sum(valid)::bigint AS valid, sum(invalid)::bigint AS invalid FROM shares GROUP BY node_id
    ) AS h ON h.node_id = n.id
    LEFT JOIN (
        SELECT k.node_id, sum(k.valid)::bigint AS last_ten_minutes,
               sum(k.valid) FILTER (WHERE k.slice > clock_timestamp() - interval '1 min')::bigint AS last_minute
        FROM campaigns AS c JOIN paces AS k ON k.campaign_id = c.id
        WHERE (c.ended_at IS NULL OR c.ended_at > clock_timestamp() - interval '10 min')
          AND k.slice > clock_timestamp() - interval '10 min'
        GROUP BY k.node_id
    ) AS p ON p.node_id = n.id
    ORDER BY n.name
""")


class PostgresOverviews:
    """See `ports.Overviews`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def campaigns(self, *, before: int | None = None, limit: int = 50) -> list[Overview]:
        """The newest campaigns that are no re-run, each followed by its re-runs."""
        with self._database.reading() as connection:
            return [_overview(row) for row in connection.execute(_PAGE, {"before": before, "most": limit})]

    def figures(self) -> Figures:
        """The whole service in numbers, for monitoring."""
        with self._database.reading() as connection:
            return figures(connection)

    def family(self, campaign_id: int) -> list[Overview]:
        """The campaign with all it descends from, and all that descends from these."""
        with self._database.reading() as connection:
            found = [_overview(row) for row in connection.execute(_FAMILY, {"campaign": campaign_id})]
        if not found:
            raise NotFoundError(f"there is no campaign {campaign_id}; `modescope campaign list` shows those there are")
        return found

    def pace(self, campaign_id: int) -> Pace:
        """How fast its valid runs come in."""
        named = {"campaign": campaign_id, "window": PACE_WINDOW_S, "shown": PACE_SHOWN_S}
        with self._database.reading() as connection:
            found = connection.execute(_PACE, named).all()
        window_s = min(PACE_WINDOW_S, max(found[0].elapsed_s, 1.0)) if found else PACE_WINDOW_S
        return Pace(
            runs_per_s={row.name: row.valid / window_s for row in found if row.name is not None},
            slices=Pace.in_slices(
                {row.slice: row.valid for row in found if row.slice is not None},
                until=found[0].until if found else 0.0,
            ),
        )

    def set_aside(self, campaign_id: int) -> dict[str, int]:
        """Reason -> number of jobs."""
        with self._database.reading() as connection:
            return {row.reason: row.jobs for row in connection.execute(_SET_ASIDE, {"campaign": campaign_id})}

    def nodes(self) -> list[NodeWork]:
        """By name."""
        with self._database.reading() as connection:
            return [NodeWork(**row._mapping) for row in connection.execute(_NODES)]


def _overview(row: Any) -> Overview:
    return Overview(
        campaign=rows.campaign(row),
        root_id=row.root_id,
        valid_runs=row.valid,
        invalid_runs=row.invalid,
        analysed=int(row.analysed),
        verdicts=row.verdicts,
    )
