"""Is it alive, is it ready, and in what numbers."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from importlib.metadata import version

from fastapi import APIRouter, Request, Response
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

from orchestrator.api import metrics, openapi
from orchestrator.api.access import Ledger, may
from orchestrator.api.models import Health, Readiness
from orchestrator.api.streams import Feeds
from orchestrator.contracts.access import Scope
from orchestrator.contracts.errors import ModescopeError

router = APIRouter(tags=["monitoring"])


@router.get("/healthz")
def alive() -> Health:
    """The service answers. Open to everybody."""
    return Health(version=version("modescope"))


@router.get(
    "/readyz",
    dependencies=[may(Scope.READ)],
    responses={503: {"model": Readiness, "description": "Something it needs is away; `checks` says what."}},
)
def ready(request: Request, response: Response) -> Readiness:
    """Can it do its work: is the database there, with today's schema, and is Redis?"""
    checks: dict[str, str] = {}
    for name, check in request.app.state.checks.items():
        try:
            check()
            checks[name] = "ok"
        except ModescopeError as problem:
            checks[name] = str(problem)
    if any(answer != "ok" for answer in checks.values()):
        response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
    return Readiness(ready=response.status_code != HTTPStatus.SERVICE_UNAVAILABLE, checks=checks)


@router.get(
    "/metrics", dependencies=[may(Scope.READ)], response_class=Response, responses=openapi.streamed("text/plain")
)
def numbers(request: Request, store: Ledger) -> Response:
    """The service in numbers, as Prometheus reads them."""
    feeds: Feeds = request.app.state.feeds
    ledger = CollectorRegistry(auto_describe=False)
    told = metrics.families(
        store.overviews.figures(), store.rates.of_nodes(), store.rates.forecasts(), readers=feeds.readers
    )
    ledger.register(_Once(told))
    latencies: CollectorRegistry = request.app.state.latencies
    return Response(generate_latest(ledger) + generate_latest(latencies), media_type=CONTENT_TYPE_PLAIN_0_0_4)


class _Once(Collector):
    """Metrics that are made for one answer."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = list(families)

    def collect(self) -> Iterable[Metric]:
        return self._families
