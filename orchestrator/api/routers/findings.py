"""What was found: a whole design, its summary, the curves of one configuration, one run."""

from __future__ import annotations

import gzip
from http import HTTPStatus
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Header, Response

from orchestrator.api import atlas, openapi
from orchestrator.api.access import CampaignId, Ledger, may
from orchestrator.api.caching import UnlessHad
from orchestrator.api.routers.configurations import Mode, SettingId
from orchestrator.campaigns.calibration import calibration
from orchestrator.contracts.access import Scope
from orchestrator.contracts.calibration import Calibration
from orchestrator.contracts.findings import RunPage, Summary
from orchestrator.report import curves

router = APIRouter(
    prefix="/campaigns/{campaign_id}",
    tags=["findings"],
    dependencies=[may(Scope.READ)],
    responses=openapi.REFUSED,
)
GZIP_LEVEL = 4
"""On columns of small numbers 9 takes ten times as long for a twentieth less."""
AcceptEncoding = Annotated[str, Header(max_length=200)]


@router.get("/atlas", response_model=atlas.Atlas, responses=openapi.UNCHANGED)
def whole_design(
    campaign_id: CampaignId,
    store: Ledger,
    answer: UnlessHad,
    accept_encoding: AcceptEncoding = "",
) -> Any:
    """Every configuration with its verdict, components, coefficient of variation and median, in columns."""

    def make() -> Response:
        text = atlas.gather(store, campaign_id).model_dump_json().encode()
        headers = {"vary": "accept-encoding"}
        if "gzip" in accept_encoding:
            text, headers["content-encoding"] = gzip.compress(text, GZIP_LEVEL, mtime=0), "gzip"
        return Response(text, media_type="application/json", headers=headers)

    return answer(make)


@router.get("/summary")
def summary(campaign_id: CampaignId, store: Ledger) -> Summary:
    """The study's tables: each family's sum of best BIC and how often it is best; counts by number of components."""
    return store.findings.summary(campaign_id)


@router.get("/calibration")
def calibration_of(campaign_id: CampaignId, store: Ledger) -> Calibration:
    """How often its controls, whose truth is known, were flagged, and confirmed by re-runs."""
    return calibration(store, campaign_id)


@router.get(
    "/configurations/{setting_id}/{mode}/curves",
    response_model=curves.Curves,
    responses=openapi.UNCHANGED | openapi.documented(HTTPStatus.CONFLICT),
)
def curves_of(campaign_id: CampaignId, setting_id: SettingId, mode: Mode, store: Ledger, answer: UnlessHad) -> Any:
    """What its charts draw: histogram, densities, distribution functions, runs in order, errors of quantiles."""

    def make() -> curves.Curves:
        page = store.campaigns.configuration(campaign_id, setting_id, mode)
        return curves.of(page, atlas.metric_of(store, store.campaigns.get(campaign_id)))

    return answer(make)


@router.get("/runs/{run_id}")
def run(campaign_id: CampaignId, run_id: UUID, store: Ledger) -> RunPage:
    """One run with everything that was told and observed about it."""
    return store.findings.run(campaign_id, run_id)
