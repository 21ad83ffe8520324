"""Logs of jobs that ran elsewhere."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response

from orchestrator.api.access import Ledger, may
from orchestrator.contracts.access import Scope
from orchestrator.web.content import job_logs as content
from orchestrator.web.rendering import page

router = APIRouter(prefix="/logs", dependencies=[may(Scope.READ)])


@router.get("")
def logs(request: Request, store: Ledger) -> Response:
    """What there is, the newest executions first."""
    return page(request, "job_logs.html", content=content.gather(store))


@router.get("/predictions")
def predictions(request: Request, store: Ledger) -> Response:
    """How well throughput is told before a job starts."""
    return page(request, "job_predictions.html", content=content.told(store))


@router.get("/{job_id}")
def job(request: Request, job_id: Annotated[str, Path(max_length=200)], store: Ledger) -> Response:
    """What was written to each OST around a job."""
    return page(request, "job_log.html", content=content.of_job(store, job_id))
