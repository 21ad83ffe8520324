"""What is flagged, or anything else of a campaign: look, pick, see what a re-run costs, start it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal
from uuid import uuid4

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import RedirectResponse, Response

from orchestrator.api.access import CampaignId, Ledger, may
from orchestrator.campaigns import repetition
from orchestrator.campaigns.sizing import Size
from orchestrator.contracts.access import Scope
from orchestrator.contracts.errors import RequestError
from orchestrator.web.content import flagged
from orchestrator.web.forms import own_form, see
from orchestrator.web.rendering import page

router = APIRouter(prefix="/campaigns/{campaign_id}/flagged", dependencies=[may(Scope.READ)])
MOST_REPLICATES = 1_000_000
LONGEST = 200


async def _query(request: Request) -> Mapping[str, str]:
    """Factors are data, so their names stand in no signature."""
    return _checked(request.query_params)


async def _posted(request: Request) -> Mapping[str, str]:
    form = await request.form()
    return _checked({name: value for name, value in form.items() if isinstance(value, str)})


def _checked(values: Mapping[str, str]) -> Mapping[str, str]:
    filters = {name: value for name, value in values.items() if name in FILTERS or name.startswith(flagged.LEVEL)}
    for name, value in filters.items():
        if len(name) > LONGEST or len(value) > LONGEST or not value.isprintable():
            raise RequestError(f"{name[:40]}: at most {LONGEST} printable characters")
    return filters


FILTERS = ("verdict", "mode", "text", "sort", "rising", "page")
Posted = Annotated[Mapping[str, str], Depends(_posted)]
Picks = Annotated[list[str], Form(max_length=flagged.ROWS)]
Replicates = Annotated[int | None, Form(ge=1, le=MOST_REPLICATES)]


@router.get("")
def show(
    request: Request, campaign_id: CampaignId, store: Ledger, query: Annotated[Mapping[str, str], Depends(_query)]
) -> Response:
    """The table, filtered and sorted as the address says."""
    content = flagged.gather(store, campaign_id, flagged.read(query))
    return page(request, "flagged.html", content=content, campaign=content.campaign)


@router.post("/cost", dependencies=[may(Scope.SUBMIT), own_form()])
def cost(
    *,
    request: Request,
    campaign_id: CampaignId,
    store: Ledger,
    posted: Posted,
    pick: Picks = [],  # noqa: B006 - FastAPI copies it
    everything: Annotated[bool, Form()] = False,
) -> Response:
    """What the picked ones, or all that pass the filter, would cost; asks whether to start."""
    campaign = store.campaigns.get(campaign_id)
    wanted = flagged.read(posted)
    if everything:
        pairs = {(one.setting_id, one.mode) for one in flagged.matching(store, campaign, wanted)}
    else:
        pairs = {_pair(text) for text in pick}
    priced = flagged.cost(store, campaign, pairs, None) if pairs else None
    return page(request, "rerun.html", campaign=campaign, cost=priced, wanted=wanted, key=str(uuid4()))


@router.post("/rerun", dependencies=[may(Scope.SUBMIT), own_form()])
def rerun(
    *,
    campaign_id: CampaignId,
    store: Ledger,
    settings: Annotated[str, Form(max_length=900_000, pattern=r"^[0-9]{1,9}( [0-9]{1,9})*$")],
    key: Annotated[str, Form(min_length=8, max_length=100)],
    by: Annotated[Literal["replicates", "hours", "power", "target"], Form()] = "replicates",
    replicates: Replicates = None,
    hours: Annotated[float | None, Form(gt=0, le=1e6, allow_inf_nan=False)] = None,
    power: Annotated[float | None, Form(ge=0.5, le=0.95, allow_inf_nan=False)] = None,
    target: Annotated[float | None, Form(gt=0, lt=1, allow_inf_nan=False)] = None,
    nodes: Annotated[Literal["same", "any"], Form()] = "same",
) -> RedirectResponse:
    """Start it, as a child campaign; sending the form twice starts one. Of the sizes, `by` says which counts."""
    found = store.campaigns.configurations(campaign_id)
    chosen = repetition.of_settings(set(map(int, settings.split())), campaign_id, found)
    sizes = {
        "replicates": Size(replicates=replicates), "hours": Size(hours=hours), "power": Size(power=power),
        "target": Size(target=target),
    }  # fmt: skip
    size = sizes[by]
    if by != "replicates" and size == Size():
        raise RequestError(f"{by}: it was chosen, and left empty")
    child, _ = repetition.submit(store, campaign_id, chosen, key=key, size=size, nodes=nodes)
    return see(f"/campaigns/{child.id}")


def _pair(text: str) -> tuple[int, str]:
    setting, _, mode = text.partition(":")
    if not (setting.isdecimal() and len(setting) < 10 and 0 < len(mode) <= LONGEST and mode.isprintable()):
        raise RequestError(f"{text[:40]!r} is no configuration")
    return int(setting), mode
