"""One configuration, and one of its runs."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response

from orchestrator.api.access import CampaignId, Ledger, may
from orchestrator.api.atlas import metric_of
from orchestrator.api.caching import IfNoneMatch, unless_had
from orchestrator.api.routers.configurations import WORD, SettingId
from orchestrator.campaigns.attribution import explained
from orchestrator.contracts.access import Scope
from orchestrator.contracts.findings import MeasuredRun
from orchestrator.report.units import fitting
from orchestrator.web.content import sample_size
from orchestrator.web.content.configuration import gather
from orchestrator.web.rendering import page

router = APIRouter(prefix="/campaigns/{campaign_id}", dependencies=[may(Scope.READ)])
Mode = Annotated[str, Path(max_length=200, pattern=WORD)]
COLUMNS = ("replicate", "value", "node", "position", "started_at", "elapsed_s", "validity", "reason", "run")


@router.get("/configurations/{setting_id}/{mode}")
def show(request: Request, campaign_id: CampaignId, setting_id: SettingId, mode: Mode, store: Ledger) -> Response:
    """All that is known about it."""
    content = gather(store, campaign_id, setting_id, mode)
    return page(request, "configuration.html", content=content, campaign=content.campaign)


@router.get("/configurations/{setting_id}/{mode}/explanation")
def explanation(
    request: Request, campaign_id: CampaignId, setting_id: SettingId, mode: Mode, store: Ledger
) -> Response:
    """What goes with its modes. The configuration's script takes its middle out."""
    campaign = store.campaigns.get(campaign_id)
    found = explained(store, campaign_id, setting_id, mode)
    unit = fitting(max((one.value for one in found.quantiles), default=0.0), metric_of(store, campaign).unit)
    return page(
        request, "explanation.html", campaign=campaign, setting_id=setting_id, mode=mode, found=found, unit=unit
    )


@router.get("/configurations/{setting_id}/{mode}/sample-size")
def enough(
    *,
    request: Request,
    campaign_id: CampaignId,
    setting_id: SettingId,
    mode: Mode,
    store: Ledger,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """How many runs are enough: a bootstrap takes seconds, so a browser keeps it until runs come in."""

    def make() -> Response:
        content = sample_size.gather(store, campaign_id, setting_id, mode)
        return page(request, "sample_size.html", content=content, campaign=content.campaign)

    return unless_had(store.campaigns.version(campaign_id), if_none_match, Response(), make)


@router.get("/configurations/{setting_id}/{mode}/values.csv")
def values(campaign_id: CampaignId, setting_id: SettingId, mode: Mode, store: Ledger) -> Response:
    """Every run of it as CSV, valid or not, in order of start."""
    found = store.campaigns.configuration(campaign_id, setting_id, mode)
    name = f"campaign-{campaign_id}-setting-{setting_id}.csv"  # a mode may have any letters
    return Response(
        _as_csv(found.runs), media_type="text/csv", headers={"content-disposition": f'attachment; filename="{name}"'}
    )


@router.get("/runs/{run_id}")
def one_run(request: Request, campaign_id: CampaignId, run_id: UUID, store: Ledger) -> Response:
    """One run: what was told and observed. The configuration's script takes its middle out."""
    campaign = store.campaigns.get(campaign_id)
    run = store.findings.run(campaign_id, run_id)
    return page(request, "run.html", campaign=campaign, run=run, metric=metric_of(store, campaign))


def _as_csv(runs: tuple[MeasuredRun, ...]) -> str:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(COLUMNS)
    for run in runs:
        started_at = datetime.fromtimestamp(run.started_at, UTC).isoformat(timespec="microseconds")
        writer.writerow(
            (
                run.replicate,
                run.value,
                run.node,
                run.position,
                started_at,
                run.elapsed_s,
                run.validity,
                run.reason,
                run.id,
            )
        )
    return written.getvalue()
