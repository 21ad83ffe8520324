"""What every route may ask for: the store, and the ways to reach an agent at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

from fastapi import Depends, Header, Path, Request

from orchestrator.store.ports import Store

StopNow = Callable[[Sequence[str]], None]
"""Tells the agents of these nodes to look at once whether their run in flight is still wanted."""


def _store(request: Request) -> Store:
    store: Store = request.app.state.store
    return store


def _stop_now(request: Request) -> StopNow:
    stop_now: StopNow = request.app.state.stop_now
    return stop_now


Ledger = Annotated[Store, Depends(_store)]
Stopper = Annotated[StopNow, Depends(_stop_now)]
CampaignId = Annotated[int, Path(ge=1, lt=2**31)]
IdempotencyKey = Annotated[
    str | None,
    Header(max_length=200, description="A second request with the same key and study returns the first campaign."),
]
