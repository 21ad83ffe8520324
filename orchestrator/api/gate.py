"""What a request has to pass before any route sees it: a token or a sign-in, and a bounded body."""

from __future__ import annotations

import hmac
import math
from dataclasses import dataclass
from http import HTTPStatus

import anyio
import anyio.to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orchestrator.api import problems
from orchestrator.api.credentials import Guesses, Holders
from orchestrator.contracts import errors
from orchestrator.contracts.access import Token, form_token

API = "/api/"
MONITORING = frozenset({"/metrics", "/readyz"})
"""Asked by programs: without a token they answer 401, where pages send to the sign-in."""
OPEN_PATHS = frozenset({"/healthz", "/sign-in"})
"""Answered without a token."""
OPEN_FOLDER = "/static/"
"""Scripts and styles of the pages: the same in every installation."""
COOKIE = "modescope_sign_in"
FORM_TOKEN_HEADER = "x-form-token"  # noqa: S105 - a header's name
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
MAX_BODY_BYTES = 1_000_000
"""A study of a thousand lines has 50 kB."""
MOST_SPILLED_BYTES = 64_000_000
SPILLED_WITHIN_S = 10.0
"""Of a body that is too large so much is read and thrown away: who is still sending hears no answer."""
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        "connect-src 'self'; font-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """Who a request comes from."""

    token: Token
    origin: str
    """The network address."""
    sign_in: str | None
    """The secret in the browser's cookie; None for a bearer token."""

    @property
    def form_token(self) -> str:
        """What forms of this browser must carry; empty for a bearer token, which no foreign page can send."""
        return form_token(self.sign_in) if self.sign_in is not None else ""


class Gate:
    """Lets a request with a token in force pass, as `scope["state"]["caller"]`; an unknown path tells nothing.

    A browser's sign-in opens the API too, but to change something its requests must carry the form token, which a
    page of another site cannot know. Pages without a sign-in are sent to sign in; the API answers 401.
    """

    def __init__(self, app: ASGIApp, *, holders: Holders, guesses: Guesses) -> None:
        self._app = app
        self._holders = holders
        self._guesses = guesses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = None if _is_open(scope["path"]) else await self._refusal(scope)
        await (refusal or self._app)(scope, receive, _with_headers(send))

    async def _refusal(self, scope: Scope) -> Response | None:
        """What to answer instead; None, and the caller in the request's state, when it may pass."""
        origin = scope["client"][0] if scope.get("client") else "local"
        headers = Headers(scope=scope)
        bearer = _bearer(headers)
        secret = bearer or cookie_parser(headers.get("cookie", "")).get(COOKIE)
        try:
            token = await self._holder(secret) if secret else None
        except errors.UnavailableError as away:
            return problem(away)
        if token is None:
            return self._unknown(scope, origin, guessed=bearer is not None)
        caller = Caller(token=token, origin=origin, sign_in=None if bearer else secret)
        if not bearer and not _from_own_page(scope, headers, caller):
            return problem(errors.ForbiddenError("this change did not come from a page of this service; reload it"))
        scope.setdefault("state", {})["caller"] = caller
        return None

    async def _holder(self, secret: str) -> Token | None:
        """A thread is only for those who must ask the ledger."""
        return self._holders.remembered(secret) or await anyio.to_thread.run_sync(self._holders.of, secret)

    def _unknown(self, scope: Scope, origin: str, *, guessed: bool) -> Response:
        if guessed:
            self._guesses.count(origin)
            wait_s = self._guesses.wait_s(origin)
            if wait_s > 0:
                return too_many(wait_s)
        if scope["path"].startswith(API) or scope["path"] in MONITORING or scope["method"] not in SAFE_METHODS:
            return problem(errors.NotAllowedError(), {"WWW-Authenticate": "Bearer"})
        return RedirectResponse("/sign-in", HTTPStatus.SEE_OTHER)


def problem(error: errors.ModescopeError, headers: dict[str, str] | None = None) -> JSONResponse:
    """The answer to a request that ends here."""
    document = problems.of(error)
    return JSONResponse(document, document["status"], headers=headers, media_type=problems.MEDIA_TYPE)


def too_many(wait_s: float) -> JSONResponse:
    """For an address that has guessed too often."""
    seconds = math.ceil(wait_s)
    error = errors.TooManyError(f"too many wrong tokens from this address; try again in {seconds} s")
    return problem(error, {"Retry-After": str(seconds)})


def _is_open(path: str) -> bool:
    return path in OPEN_PATHS or path.startswith(OPEN_FOLDER)


def _bearer(headers: Headers) -> str | None:
    kind, _, secret = headers.get("authorization", "").partition(" ")
    return secret.strip() or None if kind.lower() == "bearer" else None


def _from_own_page(scope: Scope, headers: Headers, caller: Caller) -> bool:
    """Pages' forms carry their token in a field, which the pages' own routes check; scripts send it as a header."""
    if scope["method"] in SAFE_METHODS:
        return True
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    if not scope["path"].startswith(API):
        return True
    return hmac.compare_digest(headers.get(FORM_TOKEN_HEADER, "").encode(), caller.form_token.encode())


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending


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
            if "expect" not in Headers(scope=scope):  # who asks first has not begun to send
                await _spill(receive)
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
            if message.get("more_body"):
                await _spill(self._receive)
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _TOO_LARGE, _HANG_UP)
        return message


async def _spill(receive: Receive) -> None:
    left = MOST_SPILLED_BYTES
    with anyio.move_on_after(SPILLED_WITHIN_S):
        while left > 0:
            message = await receive()
            left -= len(message.get("body", b""))
            if not message.get("more_body"):  # nor has who hangs up
                return


_HANG_UP = {"connection": "close"}
"""Uvicorn would go on reading a body that has no end."""
_TOO_LARGE = f"the body has more than {MAX_BODY_BYTES} bytes; a study is much smaller than that"


def _too_large() -> JSONResponse:
    document = problems.plain(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _TOO_LARGE)
    return JSONResponse(document, document["status"], headers=_HANG_UP, media_type=problems.MEDIA_TYPE)
