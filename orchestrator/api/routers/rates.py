"""How fast nodes work, and how long it will take."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from orchestrator.api import openapi
from orchestrator.api.access import CampaignId, Ledger, may
from orchestrator.api.models import Page, Value, Whole
from orchestrator.contracts.access import Scope
from orchestrator.contracts.rates import Duration, Forecast, NodeRate

MOST_NODES = 2000
router = APIRouter(tags=["rates"], dependencies=[may(Scope.READ)])
MoreNodes = Annotated[
    int, Query(ge=-MOST_NODES, le=MOST_NODES, description="What if so many more nodes worked on it, or fewer?")
]
Replicates = Annotated[
    int | None, Query(ge=1, le=1_000_000, description="What if each setting had so many replicates?")
]


class Planned(Value):
    """A study, and who would share the work."""

    study: str = Field(description="The study file, as YAML text.")
    nodes: Whole = Field(default=1, ge=1, le=MOST_NODES)


@router.get("/campaigns/{campaign_id}/time-left", responses=openapi.NOT_FOUND)
def time_left(campaign_id: CampaignId, store: Ledger, nodes: MoreNodes = 0, replicates: Replicates = None) -> Forecast:
    """How long it will take, with an 80 % interval: from the cost of the open jobs and the speed of the nodes."""
    from orchestrator.campaigns.forecast import WhatIf, ask

    return ask(store, campaign_id, WhatIf(nodes=nodes, replicates=replicates))


@router.get("/campaigns/{campaign_id}/rates", responses=openapi.NOT_FOUND)
def of_campaign(campaign_id: CampaignId, store: Ledger) -> Page[NodeRate]:
    """How fast each node works on it, with a 95 % interval."""
    store.campaigns.get(campaign_id)
    return Page(items=tuple(store.rates.of_campaign(campaign_id)))


@router.get("/rates")
def of_nodes(store: Ledger) -> Page[NodeRate]:
    """How fast each node works on what it did last."""
    return Page(items=tuple(store.rates.of_nodes()))


@router.post("/studies/duration", responses=openapi.documented(HTTPStatus.BAD_REQUEST))
def duration(body: Planned, store: Ledger) -> Duration:
    """How long a study will take, before its first run: by what past campaigns on its engine and factors cost."""
    from orchestrator.campaigns.estimate import in_ledger
    from orchestrator.design import study

    return in_ledger(study.load(body.study, where="study"), store, nodes=body.nodes)
