"""What counters say: which tell the modes of a configuration apart, and a model over a campaign."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import APIRouter

from orchestrator.api import openapi
from orchestrator.api.access import CampaignId, Ledger, may
from orchestrator.api.caching import UnlessHad
from orchestrator.api.routers.configurations import Mode, SettingId
from orchestrator.campaigns import counters
from orchestrator.campaigns.counters import Apart, CampaignModel
from orchestrator.contracts.access import Scope

router = APIRouter(
    prefix="/campaigns/{campaign_id}",
    tags=["findings"],
    dependencies=[may(Scope.READ)],
    responses=openapi.REFUSED | openapi.UNCHANGED | openapi.documented(HTTPStatus.CONFLICT),
)


@router.get("/configurations/{setting_id}/{mode}/counters", response_model=Apart)
def apart(campaign_id: CampaignId, setting_id: SettingId, mode: Mode, store: Ledger, answer: UnlessHad) -> Any:
    """Which counters tell its density modes apart: a cross-validated classifier with a permutation p."""
    return answer(lambda: counters.apart(store, campaign_id, setting_id, mode))


@router.get("/counters", response_model=CampaignModel)
def model(campaign_id: CampaignId, store: Ledger, answer: UnlessHad) -> Any:
    """Models of runtime and powers over its settings, and what they had to learn from."""
    return answer(lambda: counters.model(store, campaign_id))
