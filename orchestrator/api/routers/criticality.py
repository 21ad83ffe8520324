"""Which nodes hold a campaign's rounds up, or would."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import APIRouter

from orchestrator.api import openapi
from orchestrator.api.access import CampaignId, Ledger, may
from orchestrator.api.caching import UnlessHad
from orchestrator.campaigns import criticality
from orchestrator.campaigns.criticality import CampaignCriticality
from orchestrator.contracts.access import Scope

router = APIRouter(
    prefix="/campaigns/{campaign_id}",
    tags=["findings"],
    dependencies=[may(Scope.READ)],
    responses=openapi.REFUSED | openapi.UNCHANGED | openapi.documented(HTTPStatus.CONFLICT),
)


@router.get("/criticality", response_model=CampaignCriticality)
def nodes_of(campaign_id: CampaignId, store: Ledger, answer: UnlessHad) -> Any:
    """Which nodes were critical how often, and what tells; `lockstep` says whether its rounds began together."""
    return answer(lambda: criticality.nodes_of(store, campaign_id))
