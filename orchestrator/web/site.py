"""The whole service as one application: the API, and the pages on top of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

from orchestrator.api import app as api
from orchestrator.api import handlers
from orchestrator.api.access import StopNow
from orchestrator.api.gate import API
from orchestrator.contracts.errors import MissingPartError
from orchestrator.fetched import PLOTLY_SCRIPT
from orchestrator.store.ports import Store
from orchestrator.web.rendering import page
from orchestrator.web.routers import (
    access,
    atlas,
    campaign,
    campaigns,
    comparison,
    configuration,
    counters,
    criticality,
    flagged,
    job_logs,
    new_study,
    nodes,
    predictions,
    sign_in,
)

STATIC = Path(__file__).parent / "static"
A_DAY = {"cache-control": "max-age=86400"}


def create(
    store: Store, *, stop_now: StopNow = api.leave_running, checks: api.Checks | None = None, over_tls: bool = False
) -> FastAPI:
    """API and pages over this store. The OpenAPI document describes the API alone.

    `over_tls`: browsers reach it over TLS, here or at a proxy; their cookies never travel without.
    """
    app = api.create(store, stop_now=stop_now, checks=checks)
    app.state.over_tls = over_tls
    handlers.install(app, answer=_answer)
    app.add_api_route("/static/plotly.js", _plotly, include_in_schema=False)
    app.mount("/static", StaticFiles(directory=STATIC))
    for page_of in (
        sign_in,
        campaigns,
        new_study,
        campaign,
        atlas,
        configuration,
        counters,
        criticality,
        flagged,
        predictions,
        comparison,
        nodes,
        job_logs,
        access,
    ):
        app.include_router(page_of.router, include_in_schema=False)
    return app


def _plotly() -> FileResponse:
    if not PLOTLY_SCRIPT.path.exists():
        raise MissingPartError("Plotly's script is not installed: run `python -m orchestrator.fetched`")
    return FileResponse(PLOTLY_SCRIPT.path, media_type="text/javascript", headers=A_DAY)


def _answer(request: Request, document: Mapping[str, Any], headers: Mapping[str, str] | None) -> Response:
    """People get an error as a page, programs as a problem document."""
    if request.url.path.startswith(API) or "text/html" not in request.headers.get("accept", ""):
        return handlers.as_problem(request, document, headers)
    return page(request, "error.html", status=document["status"], problem=document)
