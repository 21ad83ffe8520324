"""Campaigns that grow in rounds, in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace

from orchestrator.contracts.campaigns import EventKind, State
from orchestrator.contracts.jobs import OPEN, PlannedJob
from orchestrator.contracts.rounds import Decision, Due, Growth, Round
from orchestrator.store.memory.tables import CampaignRow, JobRow, SettingRow, Tables, transaction


class Rounds:
    """See `ports.Rounds`."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    @transaction
    def due(self) -> list[Due]:
        return [
            Due(campaign_id=row.id, number=len(row.rounds) + 1)
            for row in self.tables.campaigns.values()
            if is_round_over(row)
        ]

    @transaction
    def decide(self, campaign_id: int, decision: Decision) -> bool:
        row = self.tables.campaigns.get(campaign_id)
        growth = None if row is None else row.submission.growth
        if row is None or growth is None or not is_round_over(row) or decision.number != len(row.rounds) + 1:
            return False
        before = row.expected_runs
        grown = [
            (setting, setting.replicates, decision.replicates[setting.id])
            for setting in row.settings
            if decision.replicates.get(setting.id, 0) > setting.replicates
        ]
        self._add_replicates(row, growth, decision.number, grown)
        self._close(row, decision, settings=len(grown), runs=row.expected_runs - before)
        return True

    @transaction
    def of_campaign(self, campaign_id: int) -> list[Round]:
        return list(self.tables.campaign(campaign_id).rounds)

    def _close(self, row: CampaignRow, decision: Decision, *, settings: int, runs: int) -> None:
        row.rounds.append(
            Round(
                number=decision.number,
                decided_at=self.tables.now(),
                settings=settings,
                runs=runs,
                record=dict(decision.record),
            )
        )
        told = f"round {decision.number}: {runs} more runs of {settings} of {len(row.settings)} settings"
        last = f"round {decision.number} was the last"
        self.tables.tell(EventKind.CAMPAIGN_ROUND, told if settings else last, campaign_id=row.id)
        self.tables.notify()

    def _add_replicates(
        self, row: CampaignRow, growth: Growth, number: int, grown: list[tuple[SettingRow, int, int]]
    ) -> None:
        """Block b holds every setting that goes on once, in an order of its own."""
        cut = sorted(_cut(growth, number, grown), key=lambda one: one[0])
        block = 1 + max((job.planned.block for job in row.jobs), default=-1)
        position = 1 + max((job.planned.position for job in row.jobs), default=-1)
        for place, ((of_round, _, ordinal), setting, first, count) in enumerate(cut):
            planned = PlannedJob(
                setting=ordinal, block=block + of_round, position=position + place, first_replicate=first,
                replicates=count, node=_home(row, setting),
            )  # fmt: skip
            job = JobRow(id=self.tables.new_id(), campaign=row, setting=setting, planned=planned, own=planned.node)
            self.tables.jobs[job.id] = job
            setting.jobs.append(job)
            row.jobs.append(job)
        _resize(row, {setting.setting.ordinal: after for setting, _, after in grown})


def is_round_over(row: CampaignRow) -> bool:
    """Has nobody a job of it any more, is all that was measured analysed, and nothing decided?"""
    analyses = [analysis for setting in row.settings for analysis in setting.analyses]
    return (
        row.state is State.RUNNING
        and not has_grown(row)
        and not any(job.state in OPEN for job in row.jobs)
        and all(analysis.result is not None for analysis in analyses)
    )


def has_grown(row: CampaignRow) -> bool:
    """May it end as soon as it has no open jobs?"""
    return row.submission.growth is None or any(one.settings == 0 for one in row.rounds)


def _cut(
    growth: Growth, number: int, grown: list[tuple[SettingRow, int, int]]
) -> Iterator[tuple[tuple[int, str, int], SettingRow, int, int]]:
    """(block, lot, ordinal), setting, first replicate, replicates: of each job."""
    size = growth.replicates_per_job
    for setting, before, after in grown:
        ordinal = setting.setting.ordinal
        for block, first in enumerate(range(before, after, size)):
            text = f"{growth.seed} {number} {block} {ordinal}"
            lot = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest() if growth.randomised else ""
            yield (block, lot, ordinal), setting, first, min(size, after - first)


def _home(row: CampaignRow, setting: SettingRow) -> str | None:
    """The node that a setting of a pinned campaign stays on."""
    if row.submission.placement != "pinned":
        return None
    if setting.jobs:
        return setting.jobs[-1].own
    members = sorted(row.members - row.lost)
    return members[setting.setting.ordinal % len(members)] if members else None


def _resize(row: CampaignRow, replicates: Mapping[int, int]) -> None:
    """The design says how often each setting is measured: by its ordinal."""
    for setting in row.settings:
        if setting.setting.ordinal in replicates:
            setting.setting = replace(setting.setting, replicates=replicates[setting.setting.ordinal])
    design = replace(row.submission.design, settings=tuple(setting.setting for setting in row.settings))
    row.submission = replace(row.submission, design=design)
