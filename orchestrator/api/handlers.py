"""Every error leaves the service as a problem document with one line of detail."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from orchestrator.api import problems
from orchestrator.contracts.errors import ModescopeError

Answer = Callable[[Request, Mapping[str, Any], Mapping[str, str] | None], Response]
"""Turns a problem document, and headers to go with it, into a response."""


def as_problem(_request: Request, document: Mapping[str, Any], headers: Mapping[str, str] | None) -> Response:
    """The document itself."""
    return JSONResponse(document, document["status"], headers=headers, media_type=problems.MEDIA_TYPE)


def install(app: FastAPI, *, answer: Answer = as_problem) -> None:
    """Answer our own errors, FastAPI's and the unexpected ones alike."""

    @app.exception_handler(ModescopeError)
    def _ours(request: Request, error: ModescopeError) -> Response:
        return answer(request, problems.of(error), None)

    @app.exception_handler(RequestValidationError)
    def _malformed(request: Request, error: RequestValidationError) -> Response:
        return answer(request, problems.plain(HTTPStatus.UNPROCESSABLE_ENTITY, _first(error.errors())), None)

    @app.exception_handler(HTTPException)
    def _http(request: Request, error: HTTPException) -> Response:
        return answer(request, problems.plain(error.status_code, str(error.detail)), error.headers)

    @app.exception_handler(Exception)
    def _unexpected(request: Request, error: Exception) -> Response:
        # Starlette raises it again behind this answer, and uvicorn writes it to the log.
        detail = f"the service failed ({type(error).__name__}); its log says more"
        return answer(request, problems.plain(HTTPStatus.INTERNAL_SERVER_ERROR, detail), None)


def _first(faults: Sequence[Mapping[str, Any]]) -> str:
    """`body.study: Field required`: the first fault names its place; one line is enough."""
    fault = faults[0]
    return f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}"
