"""What pages send back: forms that carry the token of their page, and where to go afterwards."""

from __future__ import annotations

import hmac
from http import HTTPStatus
from typing import Any

from fastapi import Depends, Request
from fastapi.responses import RedirectResponse

from orchestrator.api.access import Who
from orchestrator.contracts.errors import ForbiddenError

FIELD = "form_token"


async def _check(request: Request, who: Who) -> None:
    form = await request.form()
    given = str(form.get(FIELD, ""))
    if who.sign_in is not None and not hmac.compare_digest(given.encode(), who.form_token.encode()):
        raise ForbiddenError("this form did not come from a page of this service; load the page again")


def own_form() -> Any:
    """A route's dependency: the form carries the form token of the sign-in. Raises ForbiddenError."""
    return Depends(_check)


def see(path: str) -> RedirectResponse:
    """Look at `path` next; `path` is ours, never what a request said."""
    return RedirectResponse(path, HTTPStatus.SEE_OTHER)
