"""Lists of campaigns and nodes with their counters, in memory."""

from __future__ import annotations

from collections import Counter

from orchestrator.contracts.figures import Figures
from orchestrator.contracts.jobs import State
from orchestrator.contracts.overviews import PACE_SHOWN_S, PACE_SLICE_S, PACE_WINDOW_S, NodeWork, Overview, Pace
from orchestrator.contracts.runs import Validity
from orchestrator.store.memory import views
from orchestrator.store.memory.figures import figures
from orchestrator.store.memory.tables import CampaignRow, NodeRow, Tables, transaction

TEN_MINUTES_S = 600.0


class Overviews:
    """See `ports.Overviews`."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    @transaction
    def campaigns(self, *, before: int | None = None, limit: int = 50) -> list[Overview]:
        rows = self.tables.campaigns
        roots = [id_ for id_ in sorted(rows, reverse=True) if rows[id_].submission.parent_id is None]
        shown = [root for root in roots if before is None or root < before][:limit]
        return [found for root in shown for found in self._family(root)]

    @transaction
    def figures(self) -> Figures:
        return figures(self.tables)

    @transaction
    def family(self, campaign_id: int) -> list[Overview]:
        return self._family(self._root(self.tables.campaign(campaign_id)))

    @transaction
    def pace(self, campaign_id: int) -> Pace:
        row = self.tables.campaign(campaign_id)
        until = self.tables.now() if row.ended_at is None else row.ended_at
        arrived = [(run.recorded_at, run.node) for run in row.runs if run.has_pace]
        window_s = min(PACE_WINDOW_S, max(until - (row.started_at or until), 1.0))
        by_node = Counter(node for at, node in arrived if at > until - PACE_WINDOW_S)
        slices = Counter(at // PACE_SLICE_S * PACE_SLICE_S for at, _ in arrived if at > until - PACE_SHOWN_S)
        return Pace(
            runs_per_s={node: runs / window_s for node, runs in by_node.items()},
            slices=Pace.in_slices({start: float(runs) for start, runs in slices.items()}, until=until),
        )

    @transaction
    def set_aside(self, campaign_id: int) -> dict[str, int]:
        jobs = (job for job in self.tables.campaign(campaign_id).jobs if job.state is State.SET_ASIDE)
        return dict(Counter(job.reason or "unknown" for job in jobs).most_common())

    @transaction
    def nodes(self) -> list[NodeWork]:
        return [self._work(node) for _, node in sorted(self.tables.nodes.items())]

    def _root(self, row: CampaignRow) -> int:
        parent_id = row.submission.parent_id
        return row.id if parent_id is None else self._root(self.tables.campaign(parent_id))

    def _family(self, root_id: int) -> list[Overview]:
        rows = (row for _, row in sorted(self.tables.campaigns.items()))
        return [_overview(row, root_id) for row in rows if self._root(row) == root_id]

    def _work(self, node: NodeRow) -> NodeWork:
        campaigns = self.tables.campaigns.values()
        own = [run for row in campaigns for run in row.runs if run.node == node.name]
        ages_s = [self.tables.now() - run.recorded_at for run in own if run.has_pace]
        return NodeWork(
            node=node.name,
            campaign_id=None if node.leased is None else node.leased.campaign.id,
            valid=sum(run.validity is Validity.VALID for run in own),
            invalid=sum(row.shares[node.name, Validity.INVALID] for row in campaigns),
            last_minute=sum(age_s < PACE_WINDOW_S for age_s in ages_s),
            last_ten_minutes=sum(age_s < TEN_MINUTES_S for age_s in ages_s),
        )


def _overview(row: CampaignRow, root_id: int) -> Overview:
    analyses = [analysis for setting in row.settings for analysis in setting.analyses]
    return Overview(
        campaign=views.campaign(row),
        root_id=root_id,
        valid_runs=row.valid_runs,
        invalid_runs=sum(count for (_, validity), count in row.shares.items() if validity is Validity.INVALID),
        analysed=sum(analysis.result is not None for analysis in analyses),
        verdicts=dict(Counter(analysis.verdict for analysis in analyses if analysis.verdict is not None)),
    )
