"""What costs much is sent again only when it has changed: ETags from the ledger's own counters."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, TypeVar

from fastapi import Header
from starlette.responses import Response

Answer = TypeVar("Answer")

KEPT = {"cache-control": "private, no-cache"}
"""A browser may keep it, and asks every time whether it is still true."""
IfNoneMatch = Annotated[str | None, Header(max_length=1000, description="The ETag of the answer one has.")]


def unless_had(version: str, had: str | None, response: Response, make: Callable[[], Answer]) -> Answer | Response:
    """304 when the caller has this version already; else the answer, with its ETag."""
    headers = {"etag": f'"{version}"', **KEPT}
    if had is not None and f'"{version}"' in had:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    answer = make()
    (answer if isinstance(answer, Response) else response).headers.update(headers)
    return answer
