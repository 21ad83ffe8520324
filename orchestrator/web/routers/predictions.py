"""What configurations that are not measured yet would yield, as a page."""

from __future__ import annotations

from statistics import median

from fastapi import APIRouter, Request
from fastapi.responses import Response

from orchestrator.api.access import CampaignId, Ledger, may
from orchestrator.api.atlas import metric_of
from orchestrator.campaigns import predictions
from orchestrator.contracts.access import Scope
from orchestrator.contracts.errors import ConflictError
from orchestrator.report import units
from orchestrator.report.sections import predictions as report_section
from orchestrator.web.rendering import page

router = APIRouter(prefix="/campaigns/{campaign_id}", dependencies=[may(Scope.READ)])
LISTED = 100
"""Rows of the table; all of them come from the API."""


@router.get("/predictions")
def show(request: Request, campaign_id: CampaignId, store: Ledger) -> Response:
    """The least trustworthy last; or why nothing can be predicted."""
    campaign = store.campaigns.get(campaign_id)
    found, reason = None, None
    try:
        found = predictions.of_campaign(store, campaign_id)
    except ConflictError as error:
        reason = str(error)
    rows = () if found is None else sorted(found.predicted, key=lambda one: one.extrapolated)[:LISTED]
    metric = metric_of(store, campaign)
    unit = units.fitting(median(one.median for one in rows) if rows else 0.0, metric.unit)
    quality = report_section.of_campaign(store, campaign_id, metric)
    return page(
        request, "predictions.html", campaign=campaign, found=found, reason=reason, rows=rows, metric=metric,
        unit=unit, quality=quality,
    )  # fmt: skip
