"""How far a campaign is."""

from __future__ import annotations

from collections import Counter

from orchestrator.contracts.campaigns import NodeShare, Progress, State
from orchestrator.contracts.runs import Validity
from orchestrator.store.memory import rates, shares, views
from orchestrator.store.memory.nodes import online
from orchestrator.store.memory.tables import AnalysisRow, CampaignRow, Tables
from orchestrator.store.rules import RATE_WINDOW_S, time_left


def progress(tables: Tables, row: CampaignRow) -> Progress:
    """All counters of a campaign."""
    analyses = [analysis for setting in row.settings for analysis in setting.analyses]
    flags = [flag for flag in tables.flags.values() if flag.campaign_id == row.id]
    return Progress(
        campaign=views.campaign(row),
        valid_runs=row.valid_runs,
        invalid_runs=sum(count for (_, validity), count in row.shares.items() if validity is Validity.INVALID),
        jobs=dict(Counter(str(job.state) for job in row.jobs)),
        nodes=_shares(tables, row),
        analyses_done=sum(analysis.result is not None for analysis in analyses),
        analyses_total=_analyses_total(row, analyses),
        verdicts=dict(Counter(analysis.verdict for analysis in analyses if analysis.verdict is not None)),
        verdicts_final=_final(row, analyses),
        elapsed_s=_elapsed_s(tables, row),
        runs_per_s=_runs_per_s(tables, row),
        **time_left(row.state, rates.told(tables, row.id)),
        waits_for=shares.waits_for(tables, row),
        lost=tuple(sorted(row.lost)),
        flags_judged=sum(flag.done for flag in flags),
        flags_to_judge=len(flags),
    )


def _shares(tables: Tables, row: CampaignRow) -> tuple[NodeShare, ...]:
    return tuple(
        NodeShare(
            node=name,
            valid=row.shares[name, Validity.VALID],
            invalid=row.shares[name, Validity.INVALID],
            superseded=row.shares[name, Validity.SUPERSEDED],
            online=online(tables, tables.nodes[name]),
        )
        for name in sorted({node for node, _ in row.shares})
    )


def _analyses_total(row: CampaignRow, analyses: list[AnalysisRow]) -> int:
    """Every configuration while measuring; afterwards those whose sample is complete."""
    return row.submission.design.configuration_count if row.state is State.RUNNING else len(analyses)


def _final(row: CampaignRow, analyses: list[AnalysisRow]) -> bool:
    return row.state is not State.RUNNING and all(analysis.final for analysis in analyses)


def _elapsed_s(tables: Tables, row: CampaignRow) -> float:
    if row.started_at is None:
        return 0.0
    return (tables.now() if row.ended_at is None else row.ended_at) - row.started_at


def _runs_per_s(tables: Tables, row: CampaignRow) -> float | None:
    """Valid runs a second over the last minute, or since the first claim if that is shorter."""
    if row.valid_runs == 0:
        return None
    window_s = max(1.0, min(RATE_WINDOW_S, _elapsed_s(tables, row)))
    since = tables.now() - window_s
    recent = sum(run.recorded_at >= since for run in row.runs if run.has_pace)
    return recent / window_s
