"""The list of campaigns, where everybody arrives."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from orchestrator.api.access import Ledger, may
from orchestrator.contracts.access import Scope
from orchestrator.web.content.campaigns import gather
from orchestrator.web.rendering import page

router = APIRouter(dependencies=[may(Scope.READ)])


@router.get("/")
def campaigns(request: Request, store: Ledger, before: Annotated[int | None, Query(ge=1, lt=2**31)] = None) -> Response:
    """Campaigns with their re-runs, newest first."""
    return page(request, "campaigns.html", content=gather(store, before=before))
