"""Samples to be fitted, in memory."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from uuid import UUID, uuid4

from orchestrator.contracts.analyses import Analysis, Batch, Fitted, Judgement, Result
from orchestrator.contracts.campaigns import State
from orchestrator.store.memory.samples import sample, sample_digest, sample_jobs
from orchestrator.store.memory.tables import AnalysisRow, CampaignRow, Tables, transaction
from orchestrator.store.rules import ANALYSIS_LEASE_S


class Analyses:
    """See `ports.Analyses`."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    @transaction
    def lease(self, version: str, *, limit: int = 50, lease_s: float = ANALYSIS_LEASE_S) -> Batch | None:
        rows = list(islice(due(self.tables), limit))
        if not rows:
            return None
        token = uuid4()
        for row in rows:
            row.version, row.token, row.lease_until = version, token, self.tables.now() + lease_s
        return Batch(token=token, version=version, analyses=tuple(_leased(row) for row in rows))

    @transaction
    def renew(self, batch: Batch, *, lease_s: float = ANALYSIS_LEASE_S) -> int:
        held = [row for one in batch.analyses if (row := self.tables.analyses.get(one.id)) and row.token == batch.token]
        for row in held:
            row.lease_until = self.tables.now() + lease_s
        return len(held)

    @transaction
    def store(self, batch: Batch, results: Sequence[Result]) -> int:
        kept = [result for result in results if self._holds(batch.token, result)]
        for result in kept:
            row = self.tables.analyses[result.analysis_id]
            row.token = None
            row.result, row.verdict, row.sentence = result, result.verdict, result.sentence
        self.tables.notify()
        return len(kept)

    @transaction
    def unjudged(self, version: str) -> list[int]:
        return [campaign.id for campaign in self.tables.campaigns.values() if wants_judgement(campaign, version)]

    @transaction
    def judge(self, campaign_id: int, version: str, judgements: Sequence[Judgement]) -> bool:
        campaign = self.tables.campaign(campaign_id)
        words = {judgement.analysis_id: judgement for judgement in judgements}
        rows = _of(campaign)
        unfitted = {row.id for row in rows if row.result is not None and row.result.error is not None}
        if not wants_judgement(campaign, version) or not {row.id for row in rows} <= words.keys() | unfitted:
            return False
        for row in rows:
            row.final = True
            if row.id in words:
                word = words[row.id]
                row.dip_q, row.verdict, row.sentence = word.dip_q, word.verdict, word.sentence
                row.confirmation = word.confirmation
        self.tables.flags = {id_: flag for id_, flag in self.tables.flags.items() if flag.campaign_id != campaign_id}
        return True

    @transaction
    def fitted(
        self, campaign_id: int, *, verdict: str | None = None, whole: bool = True
    ) -> Generator[Fitted, None, None]:
        campaign = self.tables.campaign(campaign_id)
        found = [fitted(row) for row in _of(campaign) if row.result is not None and verdict in (None, row.verdict)]
        return (one if whole else replace(one, selection=None) for one in found)

    def _holds(self, token: UUID, result: Result) -> bool:
        row = self.tables.analyses.get(result.analysis_id)
        return row is not None and row.token == token and result.digest == row.digest == sample_digest(row.setting)


def due(tables: Tables) -> Iterator[AnalysisRow]:
    """Analyses without a result that nobody is working on."""
    return (row for row in tables.analyses.values() if row.result is None and row.lease_until <= tables.now())


def wants_judgement(campaign: CampaignRow, version: str | None = None) -> bool:
    """Has it ended, are its analyses all done, and some (of this version) not final yet?"""
    rows = _of(campaign)
    done = campaign.state is not State.RUNNING and all(row.result is not None for row in rows)
    return done and any(not row.final and version in (None, row.version) for row in rows)


def _of(campaign: CampaignRow) -> list[AnalysisRow]:
    return [row for setting in campaign.settings for row in setting.analyses]


def _leased(row: AnalysisRow) -> Analysis:
    campaign = row.setting.campaign
    return Analysis(
        id=row.id,
        campaign_id=campaign.id,
        setting_id=row.setting.id,
        mode=row.mode,
        digest=row.digest,
        options=dict(campaign.submission.analysis_options),
        sample=sample(row.setting, row.mode),
        runs=len(row.setting.valid),
        jobs=sample_jobs(row.setting),
    )


def fitted(row: AnalysisRow) -> Fitted:
    """An analysed configuration, whole."""
    return Fitted(
        id=row.id,
        setting_id=row.setting.id,
        mode=row.mode,
        sample=sample(row.setting, row.mode),
        selection=row.result.selection if row.result is not None else None,
        dip_q=row.dip_q,
        verdict=row.verdict,
        sentence=row.sentence,
        error=row.result.error if row.result is not None else None,
    )
