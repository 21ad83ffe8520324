"""The OpenAPI document, made true: every route says which problems it answers with, and how one proves who one is."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from orchestrator.api import problems
from orchestrator.api.models import ProblemDetails

OF_EVERY_ROUTE = (
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.SERVICE_UNAVAILABLE,
)
"""The gate's answers, and that of a ledger that is away."""
OF_A_BODY = (HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
_REFERENCE = {"$ref": "#/components/schemas/ProblemDetails"}
Responses = dict[int | str, dict[str, Any]]


def _problem(status: HTTPStatus) -> dict[str, Any]:
    return {"description": status.phrase, "content": {problems.MEDIA_TYPE: {"schema": _REFERENCE}}}


def documented(*statuses: HTTPStatus) -> Responses:
    """A route's own problems, for its `responses`."""
    return {int(status): _problem(status) for status in statuses}


def streamed(*media_types: str) -> Responses:
    """A route's answer when it is no JSON, for its `responses`."""
    return {200: {"content": {media_type: {"schema": {"type": "string"}} for media_type in media_types}}}


NOT_FOUND = documented(HTTPStatus.NOT_FOUND)
REFUSED = documented(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)
UNCHANGED: Responses = {304: {"description": "As it was when it had this ETag."}}


def install(app: FastAPI) -> None:
    """Replace the application's own document."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]  # FastAPI's own way to extend it


def _document(app: FastAPI) -> dict[str, Any]:
    written = get_openapi(title=app.title, version=app.version, routes=app.routes)
    components = written.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    schemas["ProblemDetails"] = ProblemDetails.model_json_schema()
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    for path, operations in written["paths"].items():
        for operation in operations.values():
            if path != "/healthz":
                _complete(operation)
    return written


def _complete(operation: dict[str, Any]) -> None:
    """What every route answers, besides its own."""
    operation["security"] = [{"token": []}]
    responses = operation["responses"]
    responses.get("422", {}).pop("content", None)  # FastAPI's own word for it
    wanted = list(OF_EVERY_ROUTE)
    if operation.get("parameters") or "requestBody" in operation:
        wanted.append(HTTPStatus.UNPROCESSABLE_ENTITY)
    if "requestBody" in operation:
        wanted += OF_A_BODY
    for status in wanted:
        documented_before = responses.setdefault(str(int(status)), {"description": status.phrase})
        documented_before.setdefault("content", {}).update(_problem(status)["content"])
