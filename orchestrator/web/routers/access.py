"""Tokens and the audit log, for administrators."""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Form, Path, Query, Request
from fastapi.responses import Response

from orchestrator.api.access import Ledger, may
from orchestrator.api.models import NewToken, TokenRequest
from orchestrator.api.routers import tokens as api
from orchestrator.contracts.access import Scope
from orchestrator.store.ports import Store
from orchestrator.web.forms import own_form, see
from orchestrator.web.rendering import page

router = APIRouter(prefix="/access", dependencies=[may(Scope.ADMIN)])
LINES = 50
NAME = r"^\S[^\x00-\x1f\x7f]*$"
SCOPES = {
    Scope.READ: "look at everything but this page",
    Scope.SUBMIT: "submit studies and re-runs",
    Scope.OPERATE: "pause, resume, cancel; drain nodes",
    Scope.ADMIN: "all of that, and this page",
}


@router.get("")
def access(request: Request, store: Ledger, before: Annotated[int | None, Query(ge=1, lt=2**63)] = None) -> Response:
    """Tokens, and who changed what."""
    return _page(request, store, before=before)


@router.post("/tokens", dependencies=[own_form()])
def create(
    request: Request,
    store: Ledger,
    name: Annotated[str, Form(max_length=100, pattern=NAME)],
    scopes: Annotated[tuple[Scope, ...], Form()] = (),
    days: Annotated[int | None, Form(ge=1, le=3650)] = None,
) -> Response:
    """Make a token, and show its secret this once."""
    if not scopes:
        return _page(request, store, problem="choose at least one scope", status=HTTPStatus.UNPROCESSABLE_ENTITY)
    wanted = TokenRequest(name=name.strip(), scopes=scopes, days=days)
    return _page(request, store, made=api.create(wanted, store), status=HTTPStatus.CREATED)


@router.post("/tokens/{token_id}/revoke", dependencies=[own_form()])
def revoke(token_id: Annotated[int, Path(ge=1, lt=2**31)], store: Ledger) -> Response:
    """End it."""
    store.access.revoke(token_id)
    return see("/access")


def _page(
    request: Request,
    store: Store,
    *,
    before: int | None = None,
    made: NewToken | None = None,
    problem: str | None = None,
    status: int = HTTPStatus.OK,
) -> Response:
    found = store.access.audited(before=before, limit=LINES + 1)
    return page(
        request,
        "access.html",
        tokens=store.access.tokens(),
        lines=found[:LINES],
        older=found[LINES - 1].id if len(found) > LINES else None,
        first=before is None,
        made=made,
        problem=problem,
        scopes=SCOPES,
        now=time.time(),
        status=status,
    )
