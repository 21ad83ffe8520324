"""Tokens and the audit log: for administrators."""

from __future__ import annotations

import math
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path

from orchestrator.api import openapi, paging
from orchestrator.api.access import Ledger, may
from orchestrator.api.models import NewToken, Page, TokenRequest
from orchestrator.contracts.access import AuditLine, Scope, Token, digest, new_secret

router = APIRouter(tags=["access"], dependencies=[may(Scope.ADMIN)])
DAY_S = 86_400.0


@router.post("/tokens", status_code=HTTPStatus.CREATED, responses=openapi.documented(HTTPStatus.CONFLICT))
def create(body: TokenRequest, store: Ledger) -> NewToken:
    """Make a token. Its secret stands in this answer and nowhere else."""
    secret = new_secret()
    lasts_s = None if body.days is None else body.days * DAY_S
    token = store.access.issue(body.name, body.scopes, digest(secret), lasts_s=lasts_s)
    return NewToken(token=token, secret=secret)


@router.get("/tokens")
def all_tokens(store: Ledger, cursor: paging.Cursor = None, limit: paging.Limit = paging.PAGE) -> Page[Token]:
    """Every token, newest first, also those that are revoked or have expired."""
    (before,) = paging.after(cursor, int) or (math.inf,)
    return paging.of_all(
        store.access.tokens(), limit, lambda token: (token.id,), lambda token: token.id < float(before)
    )


@router.post("/tokens/{token_id}/revoke", responses=openapi.NOT_FOUND)
def revoke(token_id: Annotated[int, Path(ge=1, lt=2**31)], store: Ledger) -> Token:
    """End a token and every sign-in that stands on it, within two seconds."""
    return store.access.revoke(token_id)


@router.get("/audit")
def audited(store: Ledger, cursor: paging.Cursor = None, limit: paging.Limit = paging.PAGE) -> Page[AuditLine]:
    """Who changed what, when, from where; newest first."""
    (before,) = paging.after(cursor, int) or (None,)
    found = store.access.audited(before=None if before is None else int(before), limit=limit + 1)
    return paging.page(found, limit, lambda line: (line.id,))
