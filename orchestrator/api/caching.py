"""What costs much is sent again only when it has changed: ETags from the ledger's own counters."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, TypeVar

from fastapi import Depends, Header
from starlette.responses import Response

from orchestrator.api.access import CampaignId, Ledger

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


class OfCampaign:
    """Answers about a campaign, sent again only when the campaign has changed."""

    def __init__(
        self, campaign_id: CampaignId, store: Ledger, response: Response, if_none_match: IfNoneMatch = None
    ) -> None:
        self._version = store.campaigns.version(campaign_id)
        self._had = if_none_match
        self._response = response

    def __call__(self, make: Callable[[], Answer]) -> Answer | Response:
        """What `make` returns, unless the caller has it."""
        return unless_had(self._version, self._had, self._response, make)


UnlessHad = Annotated[OfCampaign, Depends()]
