"""Which nodes would hold a campaign's rounds up."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Response

from orchestrator.api import openapi
from orchestrator.api.access import CampaignId, Ledger, may
from orchestrator.api.caching import IfNoneMatch, unless_had
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
def nodes_of(
    *, campaign_id: CampaignId, store: Ledger, response: Response, if_none_match: IfNoneMatch = None
) -> Any:  # fmt: skip
    """Which nodes were critical how often, and what tells; rounds are made of runs that did not start together."""
    version = store.campaigns.version(campaign_id)
    return unless_had(
        f"{version}-criticality", if_none_match, response, lambda: criticality.nodes_of(store, campaign_id)
    )  # fmt: skip
