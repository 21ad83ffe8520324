"""Where a job stands, and what decides when it runs."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, text

from orchestrator.contracts.jobs import Job, State
from orchestrator.contracts.nodes import NodeState
from orchestrator.store.standing import Failed, NodeStanding, Standing, has_engine

_JOBS = """
    SELECT j.id, j.campaign_id, j.setting_id, t.ordinal, j.block, j.position, j.first_replicate, j.replicates, j.state,
           n.name AS node, o.name AS own, j.attempt AS attempts, j.reason
    FROM jobs AS j JOIN settings AS t ON t.id = j.setting_id
    LEFT JOIN nodes AS n ON n.id = j.node_id LEFT JOIN nodes AS o ON o.id = j.pinned_node_id
    WHERE j.campaign_id = :campaign AND {which}
"""
_LISTED = text(
    _JOBS.format(which="j.state = ANY (:states) AND j.position > :after") + "ORDER BY j.position LIMIT :limit"
)
_ONE = text(_JOBS.format(which="j.id = :job"))
_AROUND = text("""
    SELECT c.paused, CASE WHEN t.control IS NULL THEN c.engine ELSE 'replay' END AS engine,
           extract(epoch FROM clock_timestamp() - j.offered_at)::float8 AS offered_s,
           extract(epoch FROM j.lease_until - clock_timestamp())::float8 AS lease_left_s,
           (SELECT extract(epoch FROM clock_timestamp() - reconciled_at)::float8 FROM ledger) AS unwatched_s,
           ARRAY(SELECT n.name FROM chosen_nodes(j) AS k (id) JOIN nodes AS n ON n.id = k.id) AS chosen,
           (SELECT min(e.id) FROM campaigns AS e
            WHERE e.id < c.id AND e.state = 'running' AND NOT e.paused AND jobs_in(e.id, 'queued') > 0
           ) AS earlier_campaign,
           (SELECT count(*) FROM jobs AS a
            WHERE a.campaign_id = j.campaign_id AND a.state = 'queued' AND a.position < j.position
              AND a.pinned_node_id IS NOT DISTINCT FROM j.pinned_node_id) AS ahead
    FROM jobs AS j JOIN campaigns AS c ON c.id = j.campaign_id JOIN settings AS t ON t.id = j.setting_id
    WHERE j.id = :job
""")
_NODES = text("""
    SELECT n.name, n.state, n.reason, n.online, n.engines, n.job_id AS holds,
           extract(epoch FROM clock_timestamp() - n.seen_at)::float8 AS silent_s,
           (SELECT count(*) FROM jobs AS j WHERE j.node_id = n.id AND j.state IN ('offered', 'leased')) AS in_hand
    FROM node_status AS n ORDER BY n.name
""")
_FAILURES = text("""
    SELECT n.name AS node, f.reason FROM job_failures AS f JOIN nodes AS n ON n.id = f.node_id
    WHERE f.job_id = :job ORDER BY f.id
""")


def listed(connection: Connection, campaign_id: int, states: list[str], after: int, limit: int) -> list[Job]:
    """A campaign's jobs in the order of their positions."""
    named = {"campaign": campaign_id, "states": states, "after": after, "limit": limit}
    return [_job(row) for row in connection.execute(_LISTED, named)]


def of(connection: Connection, campaign_id: int, job_id: int) -> Standing | None:
    """What decides about one job; None when the campaign does not have it."""
    named = {"campaign": campaign_id, "job": job_id}
    job = connection.execute(_ONE, named).one_or_none()
    if job is None:
        return None
    around = connection.execute(_AROUND, named).one()
    return Standing(
        job=_job(job),
        paused=around.paused,
        engine=around.engine,
        nodes=tuple(_node(row, around.engine) for row in connection.execute(_NODES)),
        chosen=frozenset(around.chosen),
        failures=tuple(Failed(node=row.node, reason=row.reason) for row in connection.execute(_FAILURES, named)),
        earlier_campaign=around.earlier_campaign,
        ahead=around.ahead,
        offered_s=around.offered_s,
        lease_left_s=around.lease_left_s,
        unwatched_s=around.unwatched_s,
    )


def _job(row: Any) -> Job:
    return Job(**{**row._mapping, "state": State(row.state)})


def _node(row: Any, engine: str) -> NodeStanding:
    values = dict(row._mapping)
    engines = values.pop("engines")
    return NodeStanding(**{**values, "state": NodeState(row.state)}, has_engine=has_engine(engine, engines))
