"""How far a campaign is, from counters that are kept as it goes."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, text

from orchestrator.contracts.campaigns import Campaign, NodeShare, Progress, State
from orchestrator.store.postgres import rates
from orchestrator.store.rules import time_left

WINDOW_S = 60.0
"""The rate is that of the last minute."""

_SHARES = text("""
    SELECT n.name AS node, n.online, s.valid, s.invalid, s.superseded
    FROM shares AS s JOIN node_status AS n ON n.id = s.node_id WHERE s.campaign_id = :campaign ORDER BY n.name
""")
_AWAY = text("""
    SELECT n.name AS node, m.lost_at IS NOT NULL AS lost
    FROM campaign_nodes AS m JOIN node_status AS n ON n.id = m.node_id
    WHERE m.campaign_id = :campaign AND (m.lost_at IS NOT NULL OR NOT n.online AND EXISTS (
        SELECT FROM jobs AS j WHERE j.pinned_node_id = n.id AND j.campaign_id = :campaign AND j.state = 'queued'))
    ORDER BY n.name
""")
_TIMES = text("""
    SELECT extract(epoch FROM coalesce(ended_at, clock_timestamp()) - first_claim_at)::float8 AS elapsed_s,
           (SELECT coalesce(sum(valid), 0) FROM paces
            WHERE campaign_id = :campaign AND slice > clock_timestamp() - make_interval(secs => :window)) AS lately
    FROM campaigns WHERE id = :campaign
""")
_ANALYSES = text("""
    SELECT nullif(verdict, '') AS verdict, final, state = 'done' AS done, analyses AS configurations
    FROM analysis_counts WHERE campaign_id = :campaign AND analyses > 0
""")


def progress(connection: Connection, campaign: Campaign) -> Progress:
    """The counters of one campaign."""
    named = {"campaign": campaign.id, "window": WINDOW_S}
    jobs = connection.execute(
        text("SELECT state, jobs FROM job_counts WHERE campaign_id = :campaign AND jobs > 0"), named
    )
    job_counts = {row.state: row.jobs for row in jobs}
    nodes = tuple(NodeShare(**row._mapping) for row in connection.execute(_SHARES, named))
    away = connection.execute(_AWAY, named).all()
    times = connection.execute(_TIMES, named).one()
    analyses = connection.execute(_ANALYSES, named).all()
    valid_runs = sum(node.valid for node in nodes)
    rate = _rate(times, valid_runs)
    return Progress(
        campaign=campaign,
        valid_runs=valid_runs,
        invalid_runs=sum(node.invalid for node in nodes),
        jobs=job_counts,
        nodes=nodes,
        analyses_done=sum(row.configurations for row in analyses if row.done),
        analyses_total=_analyses_total(campaign, analyses),
        verdicts=_verdicts(analyses),
        verdicts_final=campaign.state is not State.RUNNING and all(row.final for row in analyses),
        elapsed_s=times.elapsed_s or 0.0,
        runs_per_s=rate,
        **time_left(campaign.state, rates.forecast(connection, campaign.id)),
        waits_for=tuple(row.node for row in away if not row.lost),
        lost=tuple(row.node for row in away if row.lost),
    )


def _rate(times: Any, valid_runs: int) -> float | None:
    if valid_runs == 0 or not times.elapsed_s:
        return None
    return float(times.lately) / min(WINDOW_S, max(float(times.elapsed_s), 1.0))


def _analyses_total(campaign: Campaign, analyses: Any) -> int:
    """Every configuration while measuring; afterwards those whose sample is complete."""
    if campaign.state is State.RUNNING:
        return campaign.configurations
    return sum(row.configurations for row in analyses)


def _verdicts(analyses: Any) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in analyses:
        if row.verdict is not None:
            counts[row.verdict] = counts.get(row.verdict, 0) + row.configurations
    return counts
