"""Live: a campaign, or everything at a glance, as server-sent events.

Messages are `progress`, `nodes`, `campaigns` (what has changed, the first time everything), `event`, and `end`, after
which nothing comes any more. A browser that was cut off goes on where it was (`Last-Event-ID`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import TypeAdapter
from starlette.concurrency import run_in_threadpool

from orchestrator.api import openapi
from orchestrator.api.access import CampaignId, may
from orchestrator.api.event_stream import EventStream
from orchestrator.api.streams import Feeds, Look, News
from orchestrator.contracts.access import Scope
from orchestrator.contracts.campaigns import Event, Progress
from orchestrator.contracts.nodes import Node, NodeState
from orchestrator.contracts.overviews import Overview
from orchestrator.store.ports import Store

router = APIRouter(tags=["streams"], dependencies=[may(Scope.READ)])
MOST_EVENTS = 1000
"""Of one look: older ones are on the list of events."""
MOST_CAMPAIGNS = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeNews:
    """What changes about a node from one moment to the next."""

    name: str
    state: NodeState
    reason: str | None
    online: bool
    job_id: int | None


LastEvent = Annotated[
    int | None, Header(alias="Last-Event-ID", ge=0, lt=2**62, description="Sent by a browser that was cut off.")
]
After = Annotated[int | None, Query(ge=0, lt=2**62, description="The same, for the first time: the event last known.")]
_STREAM = openapi.streamed("text/event-stream")
_events = TypeAdapter(Event)
_progress = TypeAdapter(Progress)
_nodes = TypeAdapter(NodeNews)
_overviews = TypeAdapter(Overview)


@router.get("/campaigns/{campaign_id}/stream", response_class=StreamingResponse, responses=_STREAM | openapi.NOT_FOUND)
async def of_campaign(
    request: Request, campaign_id: CampaignId, last_event_id: LastEvent = None, after: After = None
) -> EventStream:
    """A campaign's progress, events and nodes, until its verdicts are final."""
    store: Store = request.app.state.store
    await run_in_threadpool(store.campaigns.get, campaign_id)
    return _stream(request, campaign_id, partial(_look_at, store, campaign_id), last_event_id, after)


@router.get("/stream", response_class=StreamingResponse, responses=_STREAM)
async def of_everything(request: Request, last_event_id: LastEvent = None, after: After = None) -> EventStream:
    """The latest campaigns with their counters, every event, and the nodes."""
    store: Store = request.app.state.store
    return _stream(request, None, partial(_look_around, store), last_event_id, after)


def _stream(
    request: Request, subject: int | None, look: Look, last_event_id: int | None, after: int | None
) -> EventStream:
    feeds: Feeds = request.app.state.feeds
    feeds.admit()
    store: Store = request.app.state.store
    reading = feeds.reading(subject, look, partial(_last_event, store, subject))
    return EventStream(reading, after=after if last_event_id is None else last_event_id)


def _look_at(store: Store, campaign_id: int, after: int) -> News:
    events = store.campaigns.events(campaign_id, after=after, limit=MOST_EVENTS)
    progress = store.campaigns.progress(campaign_id)
    topics: dict[str, Mapping[object, bytes]] = {
        "progress": {None: _progress.dump_json(progress)},
        "nodes": _of_nodes(store.nodes.all()),
    }
    return News(topics=topics, events=_texts(events), over=progress.verdicts_final)


def _look_around(store: Store, after: int) -> News:
    events = store.campaigns.events(after=after, limit=MOST_EVENTS)
    campaigns = store.overviews.campaigns(limit=MOST_CAMPAIGNS)
    topics: dict[str, Mapping[object, bytes]] = {
        "campaigns": {one.campaign.id: _overviews.dump_json(one) for one in campaigns},
        "nodes": _of_nodes(store.nodes.all()),
    }
    return News(topics=topics, events=_texts(events))


def _of_nodes(nodes: Iterable[Node]) -> Mapping[object, bytes]:
    return {
        node.name: _nodes.dump_json(
            NodeNews(name=node.name, state=node.state, reason=node.reason, online=node.online, job_id=node.job_id)
        )
        for node in nodes
    }


def _texts(events: list[Event]) -> list[tuple[int, bytes]]:
    return [(event.id, _events.dump_json(event)) for event in reversed(events)]


def _last_event(store: Store, campaign_id: int | None) -> int:
    return max((event.id for event in store.campaigns.events(campaign_id, limit=1)), default=0)
