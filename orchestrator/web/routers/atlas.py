"""The atlas: a whole design as a map."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from orchestrator.api.access import CampaignId, Ledger, may
from orchestrator.contracts.access import Scope
from orchestrator.web.content.atlas import gather
from orchestrator.web.rendering import page

router = APIRouter(prefix="/campaigns/{campaign_id}", dependencies=[may(Scope.READ)])


@router.get("/atlas")
def show(request: Request, campaign_id: CampaignId, store: Ledger) -> Response:
    """The page around the map; the cells come from the API."""
    content = gather(store, campaign_id)
    return page(request, "atlas.html", content=content, campaign=content.campaign)
