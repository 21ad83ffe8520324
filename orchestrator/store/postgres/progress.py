"""How far a campaign is, from counters that are kept as it goes."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, text

from orchestrator.contracts.campaigns import Campaign, NodeShare, Progress, State
from orchestrator.store.postgres import rates
from orchestrator.store.rules import FORECAST_LASTS_S, time_left

WINDOW_S = 60.0
"""The rate is that of the last minute."""

# One statement, so that its reader waits for one answer: on a busy machine that is what takes the time.
_COUNTED = text("""
    SELECT extract(epoch FROM coalesce(c.ended_at, clock_timestamp()) - c.first_claim_at)::float8 AS elapsed_s,
        (SELECT coalesce(sum(p.valid), 0) FROM paces AS p
         WHERE p.campaign_id = c.id AND p.slice > clock_timestamp() - make_interval(secs => :window)) AS lately,
        (SELECT coalesce(jsonb_object_agg(k.state, k.jobs), '{}') FROM (
             SELECT state, sum(jobs) AS jobs FROM job_counts WHERE campaign_id = c.id GROUP BY 1 HAVING sum(jobs) > 0
         ) AS k) AS jobs,
        (SELECT coalesce(jsonb_agg(jsonb_build_object('node', n.name, 'online', n.online, 'valid', s.valid,
                                   'invalid', s.invalid, 'superseded', s.superseded) ORDER BY n.name), '[]')
         FROM shares AS s JOIN node_status AS n ON n.id = s.node_id WHERE s.campaign_id = c.id) AS nodes,
        ARRAY(SELECT n.name FROM campaign_nodes AS m JOIN nodes AS n ON n.id = m.node_id
              WHERE m.campaign_id = c.id AND m.lost_at IS NOT NULL ORDER BY n.name) AS lost,
        ARRAY(SELECT n.name FROM campaign_nodes AS m JOIN node_status AS n ON n.id = m.node_id
              WHERE m.campaign_id = c.id AND m.lost_at IS NULL AND NOT n.online AND EXISTS (
                  SELECT FROM jobs AS j
                  WHERE j.pinned_node_id = n.id AND j.campaign_id = c.id AND j.state = 'queued')
              ORDER BY n.name) AS waits_for,
        (SELECT coalesce(jsonb_agg(jsonb_build_object('verdict', nullif(k.verdict, ''), 'final', k.final,
                                   'done', k.state = 'done', 'configurations', k.analyses)), '[]')
         FROM (SELECT verdict, final, state, sum(analyses) AS analyses FROM analysis_counts
               WHERE campaign_id = c.id GROUP BY 1, 2, 3 HAVING sum(analyses) > 0) AS k) AS analyses,
        (SELECT count(*) FILTER (WHERE g.done) FROM repeated_flags AS g WHERE g.campaign_id = c.id) AS flags_judged,
        (SELECT count(*) FROM repeated_flags AS g WHERE g.campaign_id = c.id) AS flags_to_judge,
        (SELECT to_jsonb(f) FROM forecasts AS f
         WHERE f.campaign_id = c.id AND f.at > clock_timestamp() - make_interval(secs => :lasts_s)) AS forecast
    FROM campaigns AS c WHERE c.id = :campaign
""")


def progress(connection: Connection, campaign: Campaign) -> Progress:
    """The counters of one campaign."""
    counted = connection.execute(
        _COUNTED, {"campaign": campaign.id, "window": WINDOW_S, "lasts_s": FORECAST_LASTS_S}
    ).one()
    nodes = tuple(NodeShare(**share) for share in counted.nodes)
    analyses = counted.analyses
    valid_runs = sum(node.valid for node in nodes)
    return Progress(
        campaign=campaign,
        valid_runs=valid_runs,
        invalid_runs=sum(node.invalid for node in nodes),
        jobs=counted.jobs,
        nodes=nodes,
        analyses_done=sum(row["configurations"] for row in analyses if row["done"]),
        analyses_total=_analyses_total(campaign, analyses),
        verdicts=_verdicts(analyses),
        verdicts_final=campaign.state is not State.RUNNING and all(row["final"] for row in analyses),
        elapsed_s=counted.elapsed_s or 0.0,
        runs_per_s=_rate(counted, valid_runs),
        **time_left(campaign.state, rates.told(counted.forecast)),
        waits_for=tuple(counted.waits_for),
        lost=tuple(counted.lost),
        flags_judged=counted.flags_judged,
        flags_to_judge=counted.flags_to_judge,
    )


def _rate(counted: Any, valid_runs: int) -> float | None:
    if valid_runs == 0 or not counted.elapsed_s:
        return None
    return float(counted.lately) / min(WINDOW_S, max(float(counted.elapsed_s), 1.0))


def _analyses_total(campaign: Campaign, analyses: Any) -> int:
    """Every configuration while measuring; afterwards those whose sample is complete."""
    if campaign.state is State.RUNNING:
        return campaign.configurations
    return sum(row["configurations"] for row in analyses)


def _verdicts(analyses: Any) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in analyses:
        if row["verdict"] is not None:
            counts[row["verdict"]] = counts.get(row["verdict"], 0) + row["configurations"]
    return counts
