"""What configurations that are not measured yet would yield."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import APIRouter

from orchestrator.api import openapi
from orchestrator.api.access import CampaignId, Ledger, may
from orchestrator.api.caching import UnlessHad
from orchestrator.campaigns import predictions
from orchestrator.campaigns.predictions import CampaignPredictions
from orchestrator.contracts.access import Scope

router = APIRouter(
    prefix="/campaigns/{campaign_id}",
    tags=["findings"],
    dependencies=[may(Scope.READ)],
    responses=openapi.REFUSED | openapi.UNCHANGED | openapi.documented(HTTPStatus.CONFLICT),
)


@router.get("/predictions", response_model=CampaignPredictions)
def of_campaign(campaign_id: CampaignId, store: Ledger, answer: UnlessHad) -> Any:
    """The predicted distribution of every configuration without a fit; a new campaign's takes seconds."""
    return answer(lambda: predictions.of_campaign(store, campaign_id))
