"""The whole service in numbers: kept counters, and what partial indexes hold."""

from __future__ import annotations

from sqlalchemy import Connection, text

from orchestrator.contracts.figures import OTHER, REASONS_TOLD, Figures, NodeFigures

_CAMPAIGNS = text("SELECT state, count(*) AS n FROM campaigns GROUP BY 1")
_JOBS = text("SELECT state, sum(jobs)::bigint AS n FROM job_counts GROUP BY 1")
_RUNS = text("""
    SELECT n.name AS node, sum(s.valid)::bigint AS valid, sum(s.invalid)::bigint AS invalid,
           sum(s.superseded)::bigint AS superseded
    FROM shares AS s JOIN nodes AS n ON n.id = s.node_id GROUP BY 1
""")
_INVALID = text("""
    WITH counted AS (
        SELECT n.name AS node, coalesce(r.reason, 'unknown') AS reason, count(*) AS runs
        FROM runs AS r JOIN sessions AS s ON s.id = r.session_id JOIN nodes AS n ON n.id = s.node_id
        WHERE r.validity <> 'valid' AND r.validity = 'invalid' GROUP BY 1, 2
    ), common AS (
        SELECT reason FROM counted GROUP BY reason ORDER BY sum(runs) DESC, reason LIMIT :told
    )
    SELECT node, CASE WHEN reason IN (SELECT reason FROM common) THEN reason ELSE :other END AS reason,
           sum(runs)::bigint AS n
    FROM counted GROUP BY 1, 2
""")
_FAILURES = text("""
    SELECT kind, count(*) AS n, count(*) FILTER (WHERE kind = 'lost' AND reason LIKE 'the lease %ran out') AS expired
    FROM job_failures GROUP BY 1
""")
_ANALYSES = text("SELECT state, sum(analyses)::bigint AS n FROM analysis_counts GROUP BY 1")
_FITS = text("SELECT count(*) AS fits, coalesce(sum(fit_s), 0)::float8 AS fit_s FROM analyses WHERE fit_s IS NOT NULL")
_NODES = text("SELECT name, state, online, spool_runs FROM node_status ORDER BY name")
_UNWATCHED = text("SELECT extract(epoch FROM clock_timestamp() - reconciled_at)::float8 FROM ledger")


def figures(connection: Connection) -> Figures:
    """Everything that is counted."""
    runs = connection.execute(_RUNS).all()
    invalid = connection.execute(_INVALID, {"told": REASONS_TOLD, "other": OTHER}).all()
    failures = connection.execute(_FAILURES).all()
    fits = connection.execute(_FITS).one()
    return Figures(
        campaigns={row.state: row.n for row in connection.execute(_CAMPAIGNS)},
        jobs={row.state: row.n for row in connection.execute(_JOBS)},
        runs={
            (row.node, validity): getattr(row, validity)
            for row in runs
            for validity in ("valid", "invalid", "superseded")
        },
        invalid={(row.node, row.reason): row.n for row in invalid},
        failures={row.kind: row.n for row in failures},
        lease_expiries=sum(row.expired for row in failures),
        analyses={row.state: row.n for row in connection.execute(_ANALYSES)},
        fits=fits.fits,
        fit_s=fits.fit_s,
        nodes=tuple(NodeFigures(**row._mapping) for row in connection.execute(_NODES)),
        unwatched_s=connection.execute(_UNWATCHED).scalar_one(),
    )
