"""How long requests take, by route: counted around everything, and told to Prometheus."""

from __future__ import annotations

import time

from prometheus_client import CollectorRegistry, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
UNKNOWN = "unknown"
"""The route of what no route answers: paths are what callers make up, and must not become labels."""


class Latencies:
    """Times every request to its first byte: a stream goes on for as long as it likes."""

    def __init__(self, app: ASGIApp, *, registry: CollectorRegistry, prefix: str) -> None:
        """`prefix`: of the API, which its routes do not name."""
        self._app = app
        self._prefix = prefix
        self._seconds = Histogram(
            "modescope_api_request_seconds",
            "Time to the first byte of an answer.",
            ("method", "route", "status"),
            buckets=BUCKETS_S,
            registry=registry,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin = time.perf_counter()

        async def timed(message: Message) -> None:
            if message["type"] == "http.response.start":
                method, route = self._asked(scope)
                self._seconds.labels(method, route, str(message["status"])).observe(time.perf_counter() - begin)
            await send(message)

        await self._app(scope, receive, timed)

    def _asked(self, scope: Scope) -> tuple[str, str]:
        """Method and route."""
        route = getattr(scope.get("route"), "path", None)
        if route is None:
            return UNKNOWN, UNKNOWN
        inside = scope["path"].startswith(f"{self._prefix}/") and not route.startswith(self._prefix)
        return scope["method"], f"{self._prefix if inside else ''}{route}"
