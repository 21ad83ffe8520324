"""Campaigns: submit, look, act, take the numbers home."""

from __future__ import annotations

import dataclasses
import zlib
from http import HTTPStatus
from uuid import uuid4

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, StreamingResponse

from orchestrator.api import export
from orchestrator.api.access import CampaignId, IdempotencyKey, Ledger, Stopper, may
from orchestrator.api.models import Cancellation, Page, Rerun, StudyText
from orchestrator.campaigns import repetition
from orchestrator.campaigns.admission import check_engines
from orchestrator.contracts.access import Scope
from orchestrator.contracts.campaigns import Campaign, Progress, Submission
from orchestrator.store.ports import Store

router = APIRouter(prefix="/campaigns", tags=["campaigns"], dependencies=[may(Scope.READ)])


@router.post("", status_code=HTTPStatus.CREATED, dependencies=[may(Scope.SUBMIT)])
def submit(body: StudyText, store: Ledger, response: Response, idempotency_key: IdempotencyKey = None) -> Campaign:
    """Check a study, enumerate and plan it, and store it as a campaign; 200 when the key has been here before."""
    from orchestrator.design import study
    from orchestrator.design.submission import submission

    wanted = study.load(body.study, where=body.where)
    planned = submission(wanted, idempotency_key=idempotency_key, nodes=_names(store))
    return _store(planned, store, response)


@router.get("")
def all_campaigns(store: Ledger) -> Page[Campaign]:
    """Every campaign, newest first."""
    return Page(items=tuple(store.campaigns.all()))


@router.get("/{campaign_id}")
def one(campaign_id: CampaignId, store: Ledger) -> Campaign:
    """One campaign."""
    return store.campaigns.get(campaign_id)


@router.get("/{campaign_id}/progress")
def progress(campaign_id: CampaignId, store: Ledger) -> Progress:
    """How far it is; counted, so it may be asked often."""
    return store.campaigns.progress(campaign_id)


@router.post("/{campaign_id}/pause", dependencies=[may(Scope.OPERATE)])
def pause(campaign_id: CampaignId, store: Ledger) -> Campaign:
    """Start nothing new; runs in flight end."""
    return store.campaigns.pause(campaign_id)


@router.post("/{campaign_id}/resume", dependencies=[may(Scope.OPERATE)])
def resume(campaign_id: CampaignId, store: Ledger) -> Campaign:
    """Undo a pause."""
    return store.campaigns.resume(campaign_id)


@router.post("/{campaign_id}/cancel", dependencies=[may(Scope.OPERATE)])
def cancel(campaign_id: CampaignId, store: Ledger, stop_now: Stopper, body: Cancellation | None = None) -> Campaign:
    """Give up what is not measured yet; what is measured stays."""
    at_work = [node.name for node in store.nodes.all() if node.job_id is not None]  # a cancelled job is nobody's
    cancelled = store.campaigns.cancel(campaign_id)
    if body is not None and body.now:
        stop_now(at_work)
    return cancelled


@router.post("/{campaign_id}/rerun", dependencies=[may(Scope.SUBMIT)], status_code=HTTPStatus.CREATED)
def rerun(
    campaign_id: CampaignId,
    body: Rerun,
    store: Ledger,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> Campaign:
    """Measure the flagged configurations again, as a child campaign."""
    from orchestrator.design.submission import rerun as plan

    campaigns = store.campaigns
    found = campaigns.configurations(campaign_id)
    ordinals = repetition.ordinals(body.flag, campaigns.progress(campaign_id), found)
    key = idempotency_key or str(uuid4())
    # From the key, so that a repeated request plans the same child and not a conflicting one.
    seed = body.seed if body.seed is not None else zlib.crc32(f"{campaign_id} {key}".encode())
    parent, design = campaigns.study(campaign_id), campaigns.design(campaign_id)
    child = plan(
        parent,
        design,
        ordinals,
        seed=seed,
        replicates=body.replicates,
        parent_id=campaign_id,
        nodes=_names(store),
    )
    return _store(dataclasses.replace(child, idempotency_key=key), store, response)


@router.get("/{campaign_id}/export", response_class=StreamingResponse)
def exported(campaign_id: CampaignId, store: Ledger) -> StreamingResponse:
    """Every measured value as CSV, a row per run and mode, valid or not."""
    campaign = store.campaigns.get(campaign_id)
    rows = store.campaigns.export(campaign_id)
    return StreamingResponse(export.as_csv(campaign.factors, rows), media_type="text/csv")


@router.get("/{campaign_id}/report", response_class=HTMLResponse)
def report(campaign_id: CampaignId, store: Ledger) -> HTMLResponse:
    """The campaign as one self-contained page."""
    from orchestrator.report import render
    from orchestrator.report.content import gather

    return HTMLResponse(render(gather(store, campaign_id)))


def _names(store: Store) -> list[str]:
    return [node.name for node in store.nodes.all()]


def _store(planned: Submission, store: Store, response: Response) -> Campaign:
    check_engines(planned, store.nodes.all())
    campaign, new = store.campaigns.submit(planned)
    if not new:
        response.status_code = HTTPStatus.OK
    return campaign
