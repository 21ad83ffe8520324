"""Tokens and the audit log: for administrators."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Query

from orchestrator.api.access import Ledger, may
from orchestrator.api.models import NewToken, Page, TokenRequest
from orchestrator.contracts.access import AuditLine, Scope, Token, digest, new_secret

router = APIRouter(tags=["access"], dependencies=[may(Scope.ADMIN)])
DAY_S = 86_400.0


@router.post("/tokens", status_code=HTTPStatus.CREATED)
def create(body: TokenRequest, store: Ledger) -> NewToken:
    """Make a token. Its secret stands in this answer and nowhere else."""
    secret = new_secret()
    lasts_s = None if body.days is None else body.days * DAY_S
    token = store.access.issue(body.name, body.scopes, digest(secret), lasts_s=lasts_s)
    return NewToken(token=token, secret=secret)


@router.get("/tokens")
def all_tokens(store: Ledger) -> Page[Token]:
    """Every token, newest first, also those that are revoked or have expired."""
    return Page(items=tuple(store.access.tokens()))


@router.post("/tokens/{token_id}/revoke")
def revoke(token_id: Annotated[int, Path(ge=1, lt=2**31)], store: Ledger) -> Token:
    """End a token and every sign-in that stands on it, within two seconds."""
    return store.access.revoke(token_id)


@router.get("/audit")
def audited(
    store: Ledger,
    before: Annotated[int | None, Query(ge=1, lt=2**63, description="Older than the line with this id.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Page[AuditLine]:
    """Who changed what, when, from where; newest first."""
    return Page(items=tuple(store.access.audited(before=before, limit=limit)))
