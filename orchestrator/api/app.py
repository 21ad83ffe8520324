"""The service: routes, the gate before them, problem documents behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version

from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from orchestrator.api import handlers, openapi
from orchestrator.api.access import StopNow
from orchestrator.api.credentials import Guesses, Holders
from orchestrator.api.gate import BodyLimit, Gate
from orchestrator.api.latencies import Latencies
from orchestrator.api.routers import (
    campaigns,
    configurations,
    counters,
    criticality,
    explanations,
    findings,
    jobs,
    monitoring,
    nodes,
    predictions,
    rates,
    rounds,
    sample_sizes,
    streams,
    studies,
    tokens,
    versions,
)
from orchestrator.api.streams import Feeds
from orchestrator.store.ports import Store

PREFIX = "/api/v1"
Checks = Mapping[str, Callable[[], None]]
"""What the service needs -> a look at it, which raises an error of ours when it is away."""


def leave_running(nodes: Sequence[str]) -> None:
    """Without a way to reach agents, a run in flight ends by itself."""


def create(store: Store, *, stop_now: StopNow = leave_running, checks: Checks | None = None) -> FastAPI:
    """The application over this store; every call but `/healthz` wants a token in force, or a signed-in browser.

    `stop_now` carries the hint of `cancel --now` to the agents of the nodes it is given; `checks` say whether what
    the service needs is there.
    """
    app = FastAPI(
        title="Modescope",
        version=version("modescope"),
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,  # FastAPI's own pages load scripts from another host
        redoc_url=None,
    )
    app.state.store = store
    app.state.stop_now = stop_now
    app.state.holders = Holders(store.access)
    app.state.guesses = Guesses()
    app.state.feeds = Feeds()
    app.state.checks = checks or {}
    app.state.latencies = CollectorRegistry()
    about_campaigns = (
        campaigns,
        jobs,
        configurations,
        counters,
        criticality,
        explanations,
        findings,
        predictions,
        rounds,
        sample_sizes,
        versions,
    )
    for part in (*about_campaigns, nodes, rates, streams, studies, tokens):
        app.include_router(part.router, prefix=PREFIX)
    app.include_router(monitoring.router)
    handlers.install(app)
    openapi.install(app)
    app.add_middleware(BodyLimit)
    app.add_middleware(Gate, holders=app.state.holders, guesses=app.state.guesses)
    app.add_middleware(Latencies, registry=app.state.latencies, prefix=PREFIX)  # added last, so it stands first
    return app
