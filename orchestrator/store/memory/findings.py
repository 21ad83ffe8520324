"""What was found, in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from statistics import fmean
from uuid import UUID

from orchestrator.contracts.campaigns import Configuration
from orchestrator.contracts.circumstances import Circumstance
from orchestrator.contracts.errors import NotFoundError
from orchestrator.contracts.findings import EngineUse, FamilySummary, Outcome, RunPage, Summary
from orchestrator.store.memory import views
from orchestrator.store.memory.tables import AnalysisRow, CampaignRow, RunRow, SettingRow, Tables, transaction
from orchestrator.store.rules import TIMED, no_run


class Findings:
    """See `ports.Findings`."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    @transaction
    def outcomes(self, campaign_id: int) -> list[Outcome]:
        found = views.configurations(self.tables.campaign(campaign_id))
        return [
            Outcome(
                setting_id=one.setting_id, levels=one.levels, mode=one.mode, verdict=one.verdict,
                components=one.components, variation=one.variation, median=one.median,
            )
            for one in found
            if one.control is None
        ]  # fmt: skip

    @transaction
    def summary(self, campaign_id: int) -> Summary:
        rows = [row for row in _analyses(self.tables.campaign(campaign_id)) if row.setting.setting.control is None]
        fitted = [row for row in rows if row.selection]
        best = Counter(row.selection["family"] for row in fitted)
        components = Counter(row.selection["components"] for row in fitted)
        return Summary(
            analysed=len(fitted),
            families=_families(fitted, best),
            components=dict(sorted(components.items())),
            verdicts=dict(Counter(row.verdict or "" for row in fitted).most_common()),
        )

    @transaction
    def repeats(self, campaign_id: int, setting_id: int, mode: str) -> list[Configuration]:
        campaign = self.tables.campaigns.get(campaign_id)
        mine = next((row for row in campaign.settings if row.id == setting_id), None) if campaign else None
        if campaign is None or mine is None:
            return []
        others = [row for row in self.tables.campaigns.values() if _is_related(row, campaign)]
        return [
            one
            for other in sorted(others, key=lambda row: row.id)
            for one in views.configurations(other)
            if (one.levels, one.control, one.mode) == (mine.setting.levels, mine.setting.control, mode)
        ]

    @transaction
    def elapsed_s(self, campaign_id: int, setting_ids: Collection[int]) -> dict[int, float]:
        settings = self.tables.campaign(campaign_id).settings
        timed = {
            row.id: [run.run.elapsed_s for replicate, run in row.valid.items() if replicate < TIMED]
            for row in settings
            if row.id in setting_ids
        }
        return {setting_id: fmean(found) for setting_id, found in timed.items() if found}

    @transaction
    def shares(self, campaign_id: int, setting_ids: Collection[int]) -> dict[int, dict[str, int]]:
        settings = self.tables.campaign(campaign_id).settings
        return {
            row.id: dict(sorted(Counter(run.node for run in row.valid.values()).items()))
            for row in settings
            if row.id in setting_ids and row.valid
        }

    @transaction
    def circumstances(self, campaign_id: int, setting_id: int) -> list[Circumstance]:
        mine = self.tables.settings.get(setting_id)
        rows = mine.valid.values() if mine is not None and mine.campaign.id == campaign_id else ()
        found = [_circumstance(row, self.tables.settings) for row in rows]
        return sorted(found, key=lambda one: (one.started_at, str(one.id)))

    @transaction
    def engines(self, campaign_id: int) -> list[EngineUse]:
        found: dict[tuple[str, str, str], list[float]] = {}
        for setting in self.tables.campaign(campaign_id).settings:
            for row in setting.valid.values():
                key = row.node, row.run.engine, row.run.engine_version
                found.setdefault(key, []).append(row.run.started_at)
        return [
            EngineUse(
                node=node, engine=engine, version=version, runs=len(starts), first_at=min(starts), last_at=max(starts)
            )
            for (node, engine, version), starts in sorted(found.items())
        ]

    @transaction
    def run(self, campaign_id: int, run_id: UUID) -> RunPage:
        self.tables.campaign(campaign_id)
        row = self.tables.runs.get(run_id)
        if row is None or row.run.campaign_id != campaign_id:
            raise NotFoundError(no_run(campaign_id, run_id))
        run = row.run
        return RunPage(
            id=run.id,
            setting_id=run.setting_id,
            modes=row.job.setting.setting.modes,
            values=run.values,
            node=row.node,
            replicate=run.replicate,
            try_number=run.try_number,
            sequence=run.sequence,
            started_at=run.started_at,
            elapsed_s=run.elapsed_s,
            settle_s=run.settle_s,
            engine=run.engine,
            engine_version=run.engine_version,
            exit_status=run.exit_status,
            validity=row.validity,
            reason=run.reason,
            details=run.details,
            observed=run.observed,
        )


def _circumstance(row: RunRow, settings: Mapping[int, SettingRow]) -> Circumstance:
    run, mine = row.run, row.job.setting
    before = settings.get(run.previous_setting_id or 0)
    known = before is not None and before.campaign is mine.campaign and before.setting.control is None
    return Circumstance(
        id=run.id,
        replicate=run.replicate,
        values=dict(zip(mine.setting.modes, run.values, strict=True)),
        node=row.node,
        job=row.job.id,
        session=run.session,
        started_at=run.started_at,
        previous_levels=before.setting.levels if before is not None and known else None,
    )


def _analyses(campaign: CampaignRow) -> Iterator[AnalysisRow]:
    return (row for setting in campaign.settings for row in setting.analyses)


def _is_related(other: CampaignRow, campaign: CampaignRow) -> bool:
    """Does one of the two re-run the other?"""
    return other.submission.parent_id == campaign.id or other.id == campaign.submission.parent_id


def _families(fitted: list[AnalysisRow], best: Counter[str]) -> tuple[FamilySummary, ...]:
    bics: dict[str, list[float]] = {}
    for row in fitted:
        for family, bic in ((row.result.family_bics if row.result else None) or {}).items():
            bics.setdefault(family, []).append(bic)
    found = [
        FamilySummary(family=family, bic_sum=sum(values), fitted=len(values), best=best[family])
        for family, values in bics.items()
    ]
    return tuple(sorted(found, key=lambda one: (one.bic_sum, one.family)))
