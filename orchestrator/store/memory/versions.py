"""Versions of a campaign's analysis, in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from orchestrator.contracts.access import Act, Deed
from orchestrator.contracts.analyses import AnalysisVersion, options_digest
from orchestrator.contracts.campaigns import State
from orchestrator.contracts.errors import ConflictError, NotFoundError
from orchestrator.store.memory import samples
from orchestrator.store.memory.tables import CampaignRow, Tables, transaction
from orchestrator.store.rules import changed_options, no_version, same_options, still_running


class Versions:
    """See `ports.Versions`."""

    def __init__(self, tables: Tables, act: Act | None = None) -> None:
        self.tables = tables
        self._act = act

    @transaction
    def of_campaign(self, campaign_id: int) -> list[AnalysisVersion]:
        row = self.tables.campaign(campaign_id)
        return [replace(one, shown=one.number == row.analysis_version) for one in row.versions]

    @transaction
    def make(self, campaign_id: int, options: Mapping[str, Any], why: str) -> AnalysisVersion:
        row = self._changeable(campaign_id)
        made = version(len(row.versions) + 1, options, why, row.versions[0].options, self.tables.now())
        same = [one.number for one in row.versions if one.digest == made.digest]
        if same:
            raise ConflictError(same_options(campaign_id, same[0]))
        row.versions.append(made)
        return self._show(row, made.number)

    @transaction
    def show(self, campaign_id: int, number: int) -> AnalysisVersion:
        row = self._changeable(campaign_id)
        if number not in [one.number for one in row.versions]:
            raise NotFoundError(no_version(campaign_id, number))
        return self._show(row, number)

    def _changeable(self, campaign_id: int) -> CampaignRow:
        row = self.tables.campaign(campaign_id)
        if row.state is State.RUNNING:
            raise ConflictError(still_running(campaign_id))
        return row

    def _show(self, row: CampaignRow, number: int) -> AnalysisVersion:
        shown = row.versions[number - 1]
        row.analysis_version = number
        row.submission = replace(row.submission, analysis_options=shown.options)
        for setting in row.settings:
            samples.show_version(self.tables, setting)
        self.tables.audit(self._act, Deed.ANALYSIS_CHANGED, f"campaign {row.id}, version {number}")
        self.tables.notify()
        return replace(shown, shown=True)


def version(
    number: int, options: Mapping[str, Any], why: str, first: Mapping[str, Any], made_at: float
) -> AnalysisVersion:
    """As it is kept; which one is shown is the campaign's to say."""
    return AnalysisVersion(
        number=number,
        exploratory=number > 1,
        options=dict(options),
        digest=options_digest(options),
        changed=changed_options(first, options),
        why=why,
        made_at=made_at,
        shown=False,
    )
