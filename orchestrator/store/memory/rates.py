"""What rates are learned from, and what was learned, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from orchestrator.contracts.campaigns import EventKind
from orchestrator.contracts.campaigns import State as CampaignState
from orchestrator.contracts.jobs import State
from orchestrator.contracts.rates import Completion, Forecast, FoundRate, InHand, NodeRate, OpenWork
from orchestrator.contracts.runs import Validity
from orchestrator.store.memory import shares
from orchestrator.store.memory.nodes import working
from orchestrator.store.memory.tables import CampaignRow, RunRow, Tables, transaction
from orchestrator.store.rules import FORECAST_LASTS_S

WAITING = frozenset({State.QUEUED, State.OFFERED})


class Rates:
    """See `ports.Rates`."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    @transaction
    def completions(self, campaign_id: int, *, after: float = 0.0, jobs: int = 2000) -> list[Completion]:
        row = self.tables.campaign(campaign_id)
        done = [job for job in row.jobs if job.done_at is not None and job.done_at > after]
        newest = sorted(done, key=lambda job: job.done_at or 0.0, reverse=True)[:jobs]
        picked = {job.id for job in newest} | {job.id for job in row.jobs if job.state is State.LEASED}
        runs = [run for run in row.runs if run.validity is Validity.VALID and run.job.id in picked]
        opened = {session: place for place, session in enumerate(self.tables.sessions)}
        return [_completion(run) for run in sorted(runs, key=lambda r: (opened[r.run.session], r.run.sequence))]

    @transaction
    def open_work(self, campaign_id: int) -> OpenWork:
        row = self.tables.campaign(campaign_id)
        now = self.tables.now()
        waiting = sorted((job.planned for job in row.jobs if job.state in WAITING), key=lambda job: job.position)
        held = sorted((job for job in row.jobs if job.state is State.LEASED), key=lambda job: job.node or "")
        return OpenWork(
            settings=[job.setting for job in waiting],
            first_replicates=[job.first_replicate for job in waiting],
            replicates=[job.replicates for job in waiting],
            in_hand=[
                InHand(node=job.node or "", setting=job.planned.setting, missing=len(job.missing)) for job in held
            ],
            nodes=self._able(row),
            now=now,
            elapsed_s=0.0 if row.started_at is None else now - row.started_at,
        )

    @transaction
    def keep(self, campaign_id: int, forecast: Forecast, rates: Sequence[FoundRate]) -> list[str]:
        self.tables.forecasts[campaign_id] = (self.tables.now(), forecast)
        return [rate.change or "" for rate in sorted(rates, key=lambda r: r.node) if self._keep(campaign_id, rate)]

    @transaction
    def of_campaign(self, campaign_id: int) -> list[NodeRate]:
        kept = self.tables.node_rates.values()
        return sorted((rate for rate in kept if rate.campaign_id == campaign_id), key=lambda rate: rate.node)

    @transaction
    def of_nodes(self) -> list[NodeRate]:
        latest = {rate.node: rate for rate in sorted(self.tables.node_rates.values(), key=lambda rate: rate.at)}
        return [rate for _, rate in sorted(latest.items())]

    @transaction
    def forecast(self, campaign_id: int) -> Forecast | None:
        return told(self.tables, campaign_id)

    @transaction
    def forecasts(self) -> dict[int, Forecast]:
        running = [row.id for row in self.tables.campaigns.values() if row.state is CampaignState.RUNNING]
        found = {campaign_id: told(self.tables, campaign_id) for campaign_id in running}
        return {campaign_id: forecast for campaign_id, forecast in found.items() if forecast is not None}

    def _able(self, row: CampaignRow) -> list[str]:
        engine = row.submission.engine
        able = [node for node in working(self.tables) if engine == "replay" or engine in node.hello.engines]
        pinned = row.submission.placement in ("pinned", "lockstep")
        return sorted(node.name for node in able if not pinned or node.name in row.members)

    def _keep(self, campaign_id: int, rate: FoundRate) -> bool:
        """True when a change is new."""
        key = (campaign_id, rate.node)
        last_told = self.tables.rates_told_at.get(key)
        first = key not in self.tables.node_rates
        new = rate.change is not None and (last_told is None or last_told < rate.since)
        values = {name: value for name, value in asdict(rate).items() if name != "change"}
        self.tables.node_rates[key] = NodeRate(campaign_id=campaign_id, at=self.tables.now(), **values)
        if (first or new) and self.tables.campaign(campaign_id).submission.placement == "by_rate":
            shares.deal_all_again(self.tables.campaign(campaign_id))
        if new and rate.change is not None:
            self.tables.rates_told_at[key] = self.tables.now()
            self.tables.tell(EventKind.NODE_RATE_CHANGED, rate.change, campaign_id=campaign_id, node=rate.node)
        return new


def told(tables: Tables, campaign_id: int) -> Forecast | None:
    """What the controller told last, unless it has been silent since."""
    at, forecast = tables.forecasts.get(campaign_id, (float("-inf"), None))
    return forecast if at > tables.now() - FORECAST_LASTS_S else None


def _completion(row: RunRow) -> Completion:
    return Completion(
        job_id=row.job.id,
        setting=row.job.planned.setting,
        node=row.node,
        session=row.run.session,
        sequence=row.run.sequence,
        started_at=row.run.started_at,
        elapsed_s=row.run.elapsed_s,
        done_at=row.job.done_at,
    )
