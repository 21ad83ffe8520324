"""Errors on the wire: problem details (RFC 9457), written by the service and read back by the client."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from orchestrator.contracts import errors

MEDIA_TYPE = "application/problem+json"
_URN = "urn:modescope:"

_STATUS: Mapping[type[errors.ModescopeError], HTTPStatus] = {
    errors.NotAllowedError: HTTPStatus.UNAUTHORIZED,
    errors.ForbiddenError: HTTPStatus.FORBIDDEN,
    errors.TooManyError: HTTPStatus.TOO_MANY_REQUESTS,
    errors.NotFoundError: HTTPStatus.NOT_FOUND,
    errors.ConflictError: HTTPStatus.CONFLICT,
    errors.RequestError: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.StudyError: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.MissingPartError: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.UnavailableError: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.SchemaError: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.UserError: HTTPStatus.BAD_REQUEST,
    errors.ModescopeError: HTTPStatus.INTERNAL_SERVER_ERROR,
}

_KINDS: Mapping[str, type[errors.ModescopeError]] = {
    f"{_URN}{kind.__name__}": kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, errors.ModescopeError)
}


def of(error: errors.ModescopeError) -> dict[str, Any]:
    """The problem document of one of our own errors; its class is the problem's type."""
    kind = type(error)
    status = next(_STATUS[ancestor] for ancestor in kind.__mro__ if ancestor in _STATUS)
    title = " ".join((kind.__doc__ or kind.__name__).split())
    return {"type": f"{_URN}{kind.__name__}", "title": title, "status": int(status), "detail": str(error)}


def plain(status: int, detail: str) -> dict[str, Any]:
    """The problem document of an error that HTTP itself has a word for."""
    return {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}


def error(document: Mapping[str, Any], status: int) -> errors.ModescopeError:
    """The error a problem document stands for, as the same class the service raised."""
    fallback = errors.UserError if status < HTTPStatus.INTERNAL_SERVER_ERROR else errors.ModescopeError
    kind = _KINDS.get(str(document.get("type", "")), fallback)
    detail = document.get("detail") or document.get("title") or f"the service answered with status {status}"
    return kind(str(detail))
