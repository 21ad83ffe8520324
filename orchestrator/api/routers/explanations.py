"""What explains the modes of a configuration."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query

from analysis.attribution import Explanation
from orchestrator.api import openapi
from orchestrator.api.access import CampaignId, Ledger, may
from orchestrator.api.caching import UnlessHad
from orchestrator.api.routers.configurations import Mode, SettingId
from orchestrator.campaigns import attribution
from orchestrator.contracts.access import Scope

router = APIRouter(
    prefix="/campaigns/{campaign_id}/configurations",
    tags=["findings"],
    dependencies=[may(Scope.READ)],
    responses=openapi.REFUSED | openapi.UNCHANGED | openapi.documented(HTTPStatus.CONFLICT),
)
MOST_DISCARDED = 1000
DISCARD = "First runs of every job to leave out; as many as the analysis sets aside when not given."


@router.get("/{setting_id}/{mode}/explanation", response_model=Explanation)
def explanation(
    *,
    campaign_id: CampaignId,
    setting_id: SettingId,
    mode: Mode,
    store: Ledger,
    answer: UnlessHad,
    discard: Annotated[int | None, Query(ge=0, le=MOST_DISCARDED, description=DISCARD)] = None,
) -> Any:
    """What goes with the modes: nodes, time, what was observed around the runs; and how independent these are."""
    return answer(lambda: attribution.explained(store, campaign_id, setting_id, mode, discard=discard))
