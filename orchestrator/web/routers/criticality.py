"""Which nodes would hold a campaign's rounds up, as a page."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from orchestrator.api.access import CampaignId, Ledger, may
from orchestrator.campaigns import criticality
from orchestrator.contracts.access import Scope
from orchestrator.report import critical_nodes
from orchestrator.web.rendering import page

router = APIRouter(prefix="/campaigns/{campaign_id}", dependencies=[may(Scope.READ)])


@router.get("/criticality")
def nodes_of(request: Request, campaign_id: CampaignId, store: Ledger) -> Response:
    """Who was critical how often, over time, and what tells."""
    campaign = store.campaigns.get(campaign_id)
    found = criticality.nodes_of(store, campaign_id)
    return page(
        request,
        "criticality.html",
        campaign=campaign,
        found=found,
        told=store.lockstep.critical(campaign_id),
        picture=critical_nodes.picture(found.nodes),
    )
