"""One campaign: look, pause, resume, cancel, measure again."""

from __future__ import annotations

from typing import Annotated
from uuid import uuid4

from fastapi import APIRouter, Form, Path, Query, Request, Response

from orchestrator.api.access import CampaignId, Ledger, Stopper, may
from orchestrator.api.models import Cancellation, Rerun
from orchestrator.api.routers import campaigns as api
from orchestrator.campaigns import reanalysis
from orchestrator.contracts.access import Scope
from orchestrator.web.content.campaign import gather
from orchestrator.web.content.what_if import answer
from orchestrator.web.forms import own_form, see
from orchestrator.web.rendering import page

router = APIRouter(prefix="/campaigns/{campaign_id}", dependencies=[may(Scope.READ)])
MoreNodes = Annotated[int | None, Query(ge=-2000, le=2000, description="What if so many more nodes, or fewer?")]
Replicates = Annotated[int | None, Query(ge=1, le=1_000_000, description="What if so many replicates?")]
OPERATE = [may(Scope.OPERATE), own_form()]
SUBMIT = [may(Scope.SUBMIT), own_form()]


@router.get("")
def campaign(
    request: Request,
    campaign_id: CampaignId,
    store: Ledger,
    *,
    job: Annotated[int | None, Query(ge=1, lt=2**63, description="Why does this job not run?")] = None,
    nodes: MoreNodes = None,
    replicates: Replicates = None,
) -> Response:
    """How far it is, how fast, what is wrong, what comes next."""
    content = gather(store, campaign_id, job_id=job)
    asked = content.is_open and (nodes is not None or replicates is not None)
    what_if = answer(store, campaign_id, nodes=nodes or 0, replicates=replicates) if asked else None
    return page(request, "campaign.html", content=content, campaign=content.campaign, key=str(uuid4()), what_if=what_if)


@router.post("/pause", dependencies=OPERATE)
def pause(campaign_id: CampaignId, store: Ledger) -> Response:
    """Start nothing new."""
    store.campaigns.pause(campaign_id)
    return see(f"/campaigns/{campaign_id}")


@router.post("/resume", dependencies=OPERATE)
def resume(campaign_id: CampaignId, store: Ledger) -> Response:
    """Undo a pause."""
    store.campaigns.resume(campaign_id)
    return see(f"/campaigns/{campaign_id}")


@router.post("/analysis", dependencies=SUBMIT)
def analyse(
    campaign_id: CampaignId,
    store: Ledger,
    option: Annotated[str, Form(max_length=200)],
    value: Annotated[str, Form(max_length=200)],
    why: Annotated[str, Form(max_length=1000)],
) -> Response:
    """Analyse it anew with another option."""
    reanalysis.change(store, campaign_id, {option: reanalysis.as_value(option, value)}, why)
    return see(f"/campaigns/{campaign_id}")


@router.post("/analysis/{number}", dependencies=SUBMIT)
def show_analysis(campaign_id: CampaignId, store: Ledger, number: Annotated[int, Path(ge=1, lt=2**31)]) -> Response:
    """Show another version of its analysis."""
    store.versions.show(campaign_id, number)
    return see(f"/campaigns/{campaign_id}")


@router.post("/cancel", dependencies=OPERATE)
def cancel(campaign_id: CampaignId, store: Ledger, stop_now: Stopper, now: Annotated[bool, Form()] = False) -> Response:
    """Give up what is not measured yet."""
    api.cancel(campaign_id, store, stop_now, Cancellation(now=now))
    return see(f"/campaigns/{campaign_id}")


@router.post("/rerun", dependencies=[may(Scope.SUBMIT), own_form()])
def rerun(
    campaign_id: CampaignId,
    store: Ledger,
    flag: Annotated[str, Form(max_length=100)],
    key: Annotated[str, Form(max_length=100)],
    replicates: Annotated[int | None, Form(ge=1, le=1_000_000)] = None,
) -> Response:
    """Measure what carries a flag again, as a child campaign; as many replicates as before where none are given."""
    wanted = Rerun(flag=flag, replicates=replicates)
    # Another flag or number is another re-run, even from the same page.
    child = api.rerun(campaign_id, wanted, store, Response(), f"{key} {flag} {replicates}")
    return see(f"/campaigns/{child.id}")
