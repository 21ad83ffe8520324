"""A campaign's jobs, and why one does not run."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from orchestrator.api import openapi, paging
from orchestrator.api.access import CampaignId, Ledger, may
from orchestrator.api.models import Page, Why
from orchestrator.contracts.access import Scope
from orchestrator.contracts.jobs import Job, State

router = APIRouter(
    prefix="/campaigns/{campaign_id}/jobs",
    tags=["jobs"],
    dependencies=[may(Scope.READ)],
    responses=openapi.NOT_FOUND,
)
JobId = Annotated[int, Path(ge=1, lt=2**63)]


@router.get("")
def of_campaign(
    campaign_id: CampaignId,
    store: Ledger,
    state: Annotated[list[State] | None, Query(description="Only jobs in one of these states.")] = None,
    cursor: paging.Cursor = None,
    limit: paging.Limit = paging.PAGE,
) -> Page[Job]:
    """A campaign's jobs, in the order in which they are handed out."""
    store.campaigns.get(campaign_id)
    behind = paging.after(cursor, int)
    found = store.jobs.of_campaign(
        campaign_id, states=state or tuple(State), after=int(behind[0]) if behind else -1, limit=limit + 1
    )
    return paging.page(found, limit, lambda job: (job.position,))


@router.get("/{job_id}/why")
def why(campaign_id: CampaignId, job_id: JobId, store: Ledger) -> Why:
    """Why this job does not run now, in one sentence."""
    return Why(reason=store.jobs.why(campaign_id, job_id))
