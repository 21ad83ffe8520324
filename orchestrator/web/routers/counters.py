"""What counters say, as pages."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from orchestrator.api.access import CampaignId, Ledger, may
from orchestrator.api.routers.configurations import Mode, SettingId
from orchestrator.campaigns import counters
from orchestrator.contracts.access import Scope
from orchestrator.contracts.errors import ConflictError
from orchestrator.web.rendering import page

router = APIRouter(prefix="/campaigns/{campaign_id}", dependencies=[may(Scope.READ)])


@router.get("/configurations/{setting_id}/{mode}/counters")
def apart(request: Request, campaign_id: CampaignId, setting_id: SettingId, mode: Mode, store: Ledger) -> Response:
    """Which counters tell its modes apart, or why none can."""
    campaign = store.campaigns.get(campaign_id)
    store.campaigns.configuration(campaign_id, setting_id, mode)  # there is such a configuration
    found, reason = None, None
    try:
        found = counters.apart(store, campaign_id, setting_id, mode)
    except ConflictError as error:
        reason = str(error)
    return page(
        request, "counters_apart.html", campaign=campaign, setting_id=setting_id, mode=mode, found=found, reason=reason
    )  # fmt: skip


@router.get("/counters")
def model(request: Request, campaign_id: CampaignId, store: Ledger) -> Response:
    """Models over the settings of a campaign."""
    campaign = store.campaigns.get(campaign_id)
    return page(request, "counters.html", campaign=campaign, found=counters.model(store, campaign_id))
