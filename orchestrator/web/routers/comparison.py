"""A campaign beside another."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from orchestrator.api.access import CampaignId, Ledger, may
from orchestrator.contracts.access import Scope
from orchestrator.web.content import comparison
from orchestrator.web.rendering import page

router = APIRouter(prefix="/campaigns/{campaign_id}", dependencies=[may(Scope.READ)])


@router.get("/compare")
def show(
    request: Request,
    campaign_id: CampaignId,
    store: Ledger,
    other: Annotated[int | None, Query(alias="with", ge=1, le=2**31 - 1)] = None,
    number: Annotated[int, Query(alias="page", ge=1, le=1_000_000)] = 1,
) -> Response:
    """What changed since the other one, by default the campaign it measures again."""
    content = comparison.gather(store, campaign_id, other, number)
    return page(request, "comparison.html", content=content, campaign=content.campaign)
