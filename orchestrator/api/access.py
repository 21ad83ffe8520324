"""What every route may ask for: who calls, the store on their behalf, and the ways to reach an agent at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from fastapi import Depends, Header, Path, Request

from orchestrator.api.gate import Caller
from orchestrator.contracts.access import Act, Scope, allows
from orchestrator.contracts.errors import ForbiddenError
from orchestrator.store.ports import Store

StopNow = Callable[[Sequence[str]], None]
"""Tells the agents of these nodes to look at once whether their run in flight is still wanted."""


async def caller(request: Request) -> Caller:
    """Whom the gate let in."""
    found: Caller = request.state.caller
    return found


async def _store(request: Request) -> Store:
    store: Store = request.app.state.store
    who = await caller(request)
    return store.on_behalf_of(Act(who=who.token.name, origin=who.origin))


async def _stop_now(request: Request) -> StopNow:
    stop_now: StopNow = request.app.state.stop_now
    return stop_now


def may(wanted: Scope) -> Any:
    """A route's dependency: the caller's token covers this scope. Raises ForbiddenError."""

    async def check(who: Annotated[Caller, Depends(caller)]) -> None:
        if not allows(who.token.scopes, wanted):
            held = ", ".join(who.token.scopes)
            raise ForbiddenError(f"this wants a token with the scope {wanted!r}; {who.token.name!r} has: {held}")

    return Depends(check)


Ledger = Annotated[Store, Depends(_store)]
Stopper = Annotated[StopNow, Depends(_stop_now)]
Who = Annotated[Caller, Depends(caller)]
CampaignId = Annotated[int, Path(ge=1, lt=2**31)]
IdempotencyKey = Annotated[
    str | None,
    Header(max_length=200, description="A second request with the same key and study returns the first campaign."),
]
