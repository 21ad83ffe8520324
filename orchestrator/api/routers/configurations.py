"""Configurations: what is known about each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request

from orchestrator.api import openapi, paging
from orchestrator.api.access import CampaignId, Ledger, may
from orchestrator.api.caching import UnlessHad
from orchestrator.api.models import Page
from orchestrator.contracts.access import Scope
from orchestrator.contracts.campaigns import Configuration
from orchestrator.contracts.errors import RequestError
from orchestrator.contracts.findings import ConfigurationPage

router = APIRouter(
    prefix="/campaigns/{campaign_id}/configurations",
    tags=["configurations"],
    dependencies=[may(Scope.READ)],
    responses=openapi.REFUSED | openapi.UNCHANGED,
)
SettingId = Annotated[int, Path(ge=1, lt=2**31)]
WORD = r"^[^\x00-\x1f\x7f]*$"
Mode = Annotated[str, Path(max_length=200, pattern=WORD)]
Word = Annotated[str | None, Query(max_length=200, pattern=WORD)]
LEVEL = "level."
MOST_LEVELS = 20


async def _levels(request: Request) -> Mapping[str, str]:
    """`level.threads=4`: factors are data, so their names stand in no signature."""
    wanted = {name[len(LEVEL) :]: text for name, text in request.query_params.items() if name.startswith(LEVEL)}
    if len(wanted) > MOST_LEVELS or any(len(text) > 200 or not text.isprintable() for text in wanted.values()):
        raise RequestError(f"level: at most {MOST_LEVELS} levels of at most 200 printable characters")
    return wanted


Levels = Annotated[Mapping[str, str], Depends(_levels)]


@router.get("", response_model=Page[Configuration])
def of_campaign(
    *,
    campaign_id: CampaignId,
    store: Ledger,
    answer: UnlessHad,
    levels: Levels,
    verdict: Word = None,
    mode: Word = None,
    cursor: paging.Cursor = None,
    limit: paging.Limit = paging.PAGE,
) -> Any:
    """A campaign's configurations in order of setting and mode; those with this verdict, mode, `level.FACTOR=LEVEL`."""
    behind = paging.after(cursor, int, str)

    def make() -> Page[Configuration]:
        found = store.campaigns.configurations(
            campaign_id,
            verdict=verdict,
            mode=mode,
            levels=levels,
            after=None if behind is None else (int(behind[0]), str(behind[1])),
            limit=limit + 1,
        )
        return paging.page(found, limit, lambda one: (one.ordinal, one.mode))

    return answer(make)


@router.get("/{setting_id}/{mode}", response_model=ConfigurationPage)
def one(campaign_id: CampaignId, setting_id: SettingId, mode: Mode, store: Ledger, answer: UnlessHad) -> Any:
    """One configuration: its fit (all candidates with their BIC, density modes) and its runs in order of start."""
    return answer(lambda: store.campaigns.configuration(campaign_id, setting_id, mode))
