"""Signing in: a token becomes a cookie that scripts cannot read; signing out ends it."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import Response

from orchestrator.api.access import Ledger, Who
from orchestrator.api.credentials import Guesses, Holders
from orchestrator.api.gate import COOKIE, too_many
from orchestrator.contracts.access import Act, digest, new_secret
from orchestrator.store.ports import Store
from orchestrator.web.forms import own_form, see
from orchestrator.web.rendering import page

router = APIRouter()
SIGNED_IN_S = 12 * 3600.0
"""A working day."""


@router.get("/sign-in")
def ask(request: Request) -> Response:
    """Ask for a token."""
    return page(request, "sign_in.html", wrong=False)


@router.post("/sign-in")
def sign_in(request: Request, token: Annotated[str, Form(max_length=500)]) -> Response:
    """Open a sign-in. After many wrong tokens from an address, even the right one has to wait."""
    guesses: Guesses = request.app.state.guesses
    holders: Holders = request.app.state.holders
    origin = request.client.host if request.client is not None else "local"
    wait_s = guesses.wait_s(origin)
    if wait_s > 0:
        return too_many(wait_s)
    holder = holders.of(token.strip())
    if holder is None:
        guesses.count(origin)
        return page(request, "sign_in.html", wrong=True, status=HTTPStatus.FORBIDDEN)
    store: Store = request.app.state.store
    secret = new_secret()
    theirs = store.on_behalf_of(Act(who=holder.name, origin=origin))
    theirs.access.sign_in(holder.id, digest(secret), lasts_s=SIGNED_IN_S)
    answer = see("/")
    over_tls: bool = request.app.state.over_tls
    answer.set_cookie(COOKIE, secret, max_age=int(SIGNED_IN_S), httponly=True, samesite="strict", secure=over_tls)
    return answer


@router.post("/sign-out", dependencies=[own_form()])
def sign_out(request: Request, store: Ledger, who: Who) -> Response:
    """End it."""
    if who.sign_in is not None:
        store.access.sign_out(digest(who.sign_in))
        request.app.state.holders.forget(who.sign_in)
    answer = see("/sign-in")
    answer.delete_cookie(COOKIE)
    return answer
