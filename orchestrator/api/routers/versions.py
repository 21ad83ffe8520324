"""Versions of a campaign's analysis."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path

from orchestrator.api import openapi
from orchestrator.api.access import CampaignId, Ledger, may
from orchestrator.api.models import AnalysisChange, Page
from orchestrator.campaigns import reanalysis
from orchestrator.contracts.access import Scope
from orchestrator.contracts.analyses import AnalysisVersion

router = APIRouter(
    prefix="/campaigns/{campaign_id}/analysis-versions",
    tags=["findings"],
    dependencies=[may(Scope.READ)],
    responses=openapi.REFUSED | openapi.documented(HTTPStatus.CONFLICT),
)


@router.get("")
def versions(campaign_id: CampaignId, store: Ledger) -> Page[AnalysisVersion]:
    """The analysis as it was submitted, and what was changed afterwards, with what and why."""
    return Page(items=tuple(store.versions.of_campaign(campaign_id)))


@router.post("", status_code=HTTPStatus.CREATED, dependencies=[may(Scope.SUBMIT)])
def change(campaign_id: CampaignId, store: Ledger, body: AnalysisChange) -> AnalysisVersion:
    """Analyse a campaign that has ended anew, with changed options: an exploratory version, which is then shown."""
    return reanalysis.change(store, campaign_id, body.options, body.why)


@router.post("/{number}/show", dependencies=[may(Scope.SUBMIT)])
def show(campaign_id: CampaignId, number: Annotated[int, Path(ge=1, lt=2**31)], store: Ledger) -> AnalysisVersion:
    """Show another version: a campaign shows one at a time, everywhere."""
    return store.versions.show(campaign_id, number)
