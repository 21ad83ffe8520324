"""What a request has to pass before any route sees it: the bearer token, and a bounded body."""

from __future__ import annotations

import hmac
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orchestrator.api import problems
from orchestrator.contracts.errors import NotAllowedError

OPEN_PATHS = frozenset({"/healthz"})
"""Answered without a token."""
MAX_BODY_BYTES = 1_000_000
"""A study of a thousand lines has 50 kB."""


class TokenGate:
    """Refuses every request without the right bearer token, but for `OPEN_PATHS`; an unknown path tells nothing."""

    def __init__(self, app: ASGIApp, *, token: str) -> None:
        if not token:
            raise ValueError("an API without a token would be open to everybody")
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in OPEN_PATHS:
            given = Headers(scope=scope).get("authorization", "").encode()
            if not hmac.compare_digest(given, self._expected):
                await _refusal()(scope, receive, send)
                return
        await self._app(scope, receive, send)


class BodyLimit:
    """Ends a request with 413 once its body has more than `MAX_BODY_BYTES`, announced or counted."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "0")
        if announced.isdecimal() and int(announced) > MAX_BODY_BYTES:
            await _too_large()(scope, receive, send)
            return
        await self._app(scope, _Counter(receive), send)


class _Counter:
    """Counts what is received; a chunked body announces no length."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._bytes = 0

    async def __call__(self) -> Message:
        message = await self._receive()
        self._bytes += len(message.get("body", b""))
        if self._bytes > MAX_BODY_BYTES:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _TOO_LARGE)
        return message


_TOO_LARGE = f"the body has more than {MAX_BODY_BYTES} bytes; a study is much smaller than that"


def _too_large() -> JSONResponse:
    document = problems.plain(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _TOO_LARGE)
    return JSONResponse(document, document["status"], media_type=problems.MEDIA_TYPE)


def _refusal() -> JSONResponse:
    document = problems.of(NotAllowedError())
    headers = {"WWW-Authenticate": "Bearer"}
    return JSONResponse(document, document["status"], headers=headers, media_type=problems.MEDIA_TYPE)
