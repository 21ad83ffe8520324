"""Configurations: what is known about each."""

from __future__ import annotations

from fastapi import APIRouter

from orchestrator.api.access import CampaignId, Ledger, may
from orchestrator.api.models import Page
from orchestrator.contracts.access import Scope
from orchestrator.contracts.campaigns import Configuration

router = APIRouter(
    prefix="/campaigns/{campaign_id}/configurations", tags=["configurations"], dependencies=[may(Scope.READ)]
)


@router.get("")
def of_campaign(
    campaign_id: CampaignId, store: Ledger, verdict: str | None = None, mode: str | None = None
) -> Page[Configuration]:
    """A campaign's configurations in order of setting and mode, all or those with this verdict or mode."""
    store.campaigns.get(campaign_id)
    return Page(items=tuple(store.campaigns.configurations(campaign_id, verdict=verdict, mode=mode)))
