"""What counters say: which tell the modes of a configuration apart, and a model over a campaign."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from orchestrator.api import openapi
from orchestrator.api.access import CampaignId, Ledger, may
from orchestrator.api.caching import IfNoneMatch, unless_had
from orchestrator.api.routers.configurations import WORD, SettingId
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
def apart(
    *,
    campaign_id: CampaignId,
    setting_id: SettingId,
    mode: Annotated[str, Path(max_length=200, pattern=WORD)],
    store: Ledger,
    response: Response,
    if_none_match: IfNoneMatch = None,
) -> Any:
    """Which counters tell its density modes apart: a cross-validated classifier with a permutation p."""
    version = store.campaigns.version(campaign_id)
    return unless_had(
        f"{version}-apart", if_none_match, response, lambda: counters.apart(store, campaign_id, setting_id, mode)
    )  # fmt: skip


@router.get("/counters", response_model=CampaignModel)
def model(
    *, campaign_id: CampaignId, store: Ledger, response: Response, if_none_match: IfNoneMatch = None
) -> Any:  # fmt: skip
    """Models of runtime and powers over its settings, and what they had to learn from."""
    version = store.campaigns.version(campaign_id)
    return unless_had(f"{version}-model", if_none_match, response, lambda: counters.model(store, campaign_id))
