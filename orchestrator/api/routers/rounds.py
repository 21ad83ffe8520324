"""What a study asks for beside a fixed design: growth in rounds, canaries."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter

from orchestrator.api import openapi
from orchestrator.api.access import CampaignId, Ledger, may
from orchestrator.campaigns import adaptation, canaries, choice
from orchestrator.contracts.access import Scope
from orchestrator.contracts.canaries import CanaryReport
from orchestrator.contracts.rounds import Adaptation, Choice

router = APIRouter(
    prefix="/campaigns/{campaign_id}",
    tags=["findings"],
    dependencies=[may(Scope.READ)],
    responses=openapi.REFUSED | openapi.documented(HTTPStatus.CONFLICT),
)


@router.get("/adaptation")
def adaptation_of(campaign_id: CampaignId, store: Ledger) -> Adaptation:
    """What an adaptive campaign has come to: its rounds, the runs it saved, the precision it reached."""
    return adaptation.adaptation(store, campaign_id)


@router.get("/choice")
def choice_of(campaign_id: CampaignId, store: Ledger) -> Choice:
    """What an active campaign has come to: its rounds, how well the rest is predicted, the node hours it saved."""
    return choice.choice(store, campaign_id)


@router.get("/canaries")
def canaries_of(campaign_id: CampaignId, store: Ledger) -> CanaryReport:
    """Whether its nodes measure the same, by the canaries that all of them measure; what might be left out."""
    return canaries.canaries(store, campaign_id)
