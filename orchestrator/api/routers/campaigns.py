"""Campaigns: submit, look, act, take the numbers home."""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import StrEnum
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, StreamingResponse
from pydantic import TypeAdapter

from orchestrator.api import atlas, columnar, export, openapi, paging
from orchestrator.api.access import CampaignId, IdempotencyKey, Ledger, Stopper, may
from orchestrator.api.caching import IfNoneMatch, unless_had
from orchestrator.api.models import Cancellation, Page, Rerun, StudyText
from orchestrator.bundle import writing as bundle
from orchestrator.campaigns import repetition
from orchestrator.campaigns.admission import check_engines
from orchestrator.campaigns.sizing import Size
from orchestrator.contracts.access import Scope
from orchestrator.contracts.campaigns import Campaign, Event, Progress, State, Submission
from orchestrator.contracts.nodes import NodeState
from orchestrator.store.ports import Store
from orchestrator.store.standing import has_engine

if TYPE_CHECKING:
    from orchestrator.design.study import Study

router = APIRouter(prefix="/campaigns", tags=["campaigns"], dependencies=[may(Scope.READ)])
_progress = TypeAdapter(Progress)


class Format(StrEnum):
    """What an export is written as."""

    CSV = "csv"
    PARQUET = "parquet"
    ARROW = "arrow"
    BUNDLE = "bundle"


EXPORTED_AS = {
    Format.CSV: "text/csv",
    Format.PARQUET: "application/vnd.apache.parquet",
    Format.ARROW: "application/vnd.apache.arrow.stream",
    Format.BUNDLE: "application/zip",
}
THERE_ALREADY: openapi.Responses = {
    200: {"model": Campaign, "description": "The idempotency key has been here before."},
    **openapi.documented(HTTPStatus.CONFLICT),
}


@router.post("", status_code=HTTPStatus.CREATED, dependencies=[may(Scope.SUBMIT)], responses=THERE_ALREADY)
def submit(body: StudyText, store: Ledger, response: Response, idempotency_key: IdempotencyKey = None) -> Campaign:
    """Check a study, enumerate and plan it, and store it as a campaign; 200 when the key has been here before."""
    from orchestrator.design import study
    from orchestrator.design.submission import submission

    wanted = study.load(body.study, where=body.where)
    planned = submission(wanted, idempotency_key=idempotency_key, nodes=_nodes_for(wanted, store))
    return _store(planned, store, response)


@router.get("")
def all_campaigns(
    store: Ledger,
    state: Annotated[State | None, Query(description="Only those in this state.")] = None,
    cursor: paging.Cursor = None,
    limit: paging.Limit = paging.PAGE,
) -> Page[Campaign]:
    """Every campaign, newest first."""
    (before,) = paging.after(cursor, int) or (math.inf,)
    return paging.of_all(
        store.campaigns.all(),
        limit,
        lambda campaign: (campaign.id,),
        lambda campaign: campaign.id < float(before) and state in (None, campaign.state),
    )


@router.get("/{campaign_id}", responses=openapi.NOT_FOUND)
def one(campaign_id: CampaignId, store: Ledger) -> Campaign:
    """One campaign."""
    return store.campaigns.get(campaign_id)


@router.get("/{campaign_id}/progress", response_model=Progress, responses=openapi.NOT_FOUND)
def progress(campaign_id: CampaignId, store: Ledger) -> Response:
    """How far it is; counted, so it may be asked often."""
    # Written here: FastAPI would check it first, in a second thread, for which everybody who asks has to wait.
    text = _progress.dump_json(store.campaigns.progress(campaign_id))
    return Response(text, media_type="application/json")


@router.post("/{campaign_id}/pause", dependencies=[may(Scope.OPERATE)], responses=openapi.REFUSED)
def pause(campaign_id: CampaignId, store: Ledger) -> Campaign:
    """Start nothing new; runs in flight end."""
    return store.campaigns.pause(campaign_id)


@router.post("/{campaign_id}/resume", dependencies=[may(Scope.OPERATE)], responses=openapi.REFUSED)
def resume(campaign_id: CampaignId, store: Ledger) -> Campaign:
    """Undo a pause."""
    return store.campaigns.resume(campaign_id)


@router.post("/{campaign_id}/cancel", dependencies=[may(Scope.OPERATE)], responses=openapi.REFUSED)
def cancel(campaign_id: CampaignId, store: Ledger, stop_now: Stopper, body: Cancellation | None = None) -> Campaign:
    """Give up what is not measured yet; what is measured stays."""
    at_work = [node.name for node in store.nodes.all() if node.job_id is not None]  # a cancelled job is nobody's
    cancelled = store.campaigns.cancel(campaign_id)
    if body is not None and body.now:
        stop_now(at_work)
    return cancelled


@router.post(
    "/{campaign_id}/rerun",
    dependencies=[may(Scope.SUBMIT)],
    status_code=HTTPStatus.CREATED,
    responses=THERE_ALREADY | openapi.NOT_FOUND,
)
def rerun(
    campaign_id: CampaignId,
    body: Rerun,
    store: Ledger,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> Campaign:
    """Measure the settings of flagged or picked configurations again, all modes of each, as a child campaign.

    The nodes that measured a setting measure it again, in the same proportions, unless `nodes` says otherwise.
    """
    found = store.campaigns.configurations(campaign_id, mode=body.mode, levels=body.levels)
    if body.configurations:
        pairs = {(picked.setting_id, picked.mode) for picked in body.configurations}
        chosen = repetition.picked(pairs, campaign_id, found)
    elif body.flag is not None:
        chosen = repetition.flagged(body.flag, store.campaigns.progress(campaign_id), found)
    else:
        chosen = repetition.filtered(campaign_id, found)
    size = Size(replicates=body.replicates, hours=body.hours, power=body.power, target=body.target)
    key = idempotency_key or str(uuid4())
    again = repetition.submit(store, campaign_id, chosen, key=key, seed=body.seed, size=size, nodes=body.nodes)
    return _told(again, response)


@router.get("/{campaign_id}/events", responses=openapi.NOT_FOUND)
def events(
    campaign_id: CampaignId, store: Ledger, cursor: paging.Cursor = None, limit: paging.Limit = paging.PAGE
) -> Page[Event]:
    """What happened to it and to its nodes, newest first."""
    store.campaigns.get(campaign_id)
    (before,) = paging.after(cursor, int) or (None,)
    found = store.campaigns.events(campaign_id, before=None if before is None else int(before), limit=limit + 1)
    return paging.page(found, limit, lambda event: (event.id,))


@router.get(
    "/{campaign_id}/export",
    response_class=StreamingResponse,
    responses=openapi.streamed(*EXPORTED_AS.values()) | openapi.REFUSED,
)
def exported(
    campaign_id: CampaignId, store: Ledger, wanted: Annotated[Format, Query(alias="format")] = Format.CSV
) -> StreamingResponse:
    """Every measured value, a row per run and mode, valid or not: as CSV, Parquet or an Arrow IPC stream.

    The value's column is named after the metric and its unit: `throughput_kbps`, `response_time_ms`, `calls_per_s`.
    A bundle, of a campaign whose verdicts are final, holds the CSV with study, verdicts, versions and checksums: what
    `modescope import` restores elsewhere.
    """
    if wanted is Format.BUNDLE:
        return StreamingResponse(bundle.write(store, campaign_id), media_type=EXPORTED_AS[wanted])
    if wanted is not Format.CSV:
        columnar.require()
    design = store.campaigns.design(campaign_id)
    metric = atlas.metric_of(store, store.campaigns.get(campaign_id))
    rows = store.campaigns.export(campaign_id)
    pieces: Iterator[str] | Iterator[bytes] = export.as_csv(design.factors, metric, rows)
    if wanted is not Format.CSV:
        pieces = (columnar.as_parquet if wanted is Format.PARQUET else columnar.as_arrow)(design, metric, rows)
    return StreamingResponse(pieces, media_type=EXPORTED_AS[wanted])


@router.get("/{campaign_id}/report", response_class=HTMLResponse, responses=openapi.REFUSED | openapi.UNCHANGED)
def report(campaign_id: CampaignId, store: Ledger, response: Response, if_none_match: IfNoneMatch = None) -> Response:
    """The campaign as one self-contained page."""
    from orchestrator.report import render
    from orchestrator.report.content import gather

    version = store.campaigns.version(campaign_id)
    return unless_had(version, if_none_match, response, lambda: HTMLResponse(render(gather(store, campaign_id))))


def _names(store: Store) -> list[str]:
    return [node.name for node in store.nodes.all()]


def _nodes_for(study: Study, store: Store) -> list[str]:
    """Over which a study that names none is planned: in lockstep those that are at work and have its engine."""
    if study.placement.kind != "lockstep":
        return _names(store)
    at_work = (node for node in store.nodes.all() if node.online and node.state is NodeState.READY)
    return [node.name for node in at_work if has_engine(study.engine.name, node.engines)]


def _store(planned: Submission, store: Store, response: Response) -> Campaign:
    check_engines(planned, store.nodes.all())
    return _told(store.campaigns.submit(planned), response)


def _told(submitted: tuple[Campaign, bool], response: Response) -> Campaign:
    campaign, new = submitted
    if not new:
        response.status_code = HTTPStatus.OK
    return campaign
