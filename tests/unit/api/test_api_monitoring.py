"""Alive, ready, in numbers; and a dashboard that asks for nothing that is not there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from orchestrator.api import app
from orchestrator.contracts.errors import UnavailableError
from orchestrator.store.memory import MemoryStore
from tests.unit.api.conftest import TOKEN
from tests.unit.measured import Laboratory
from tests.unit.service import serving

DASHBOARD = Path(__file__).parents[3] / "deploy/grafana/modescope.json"
WORDS_OF_QUERIES = {"sum", "by", "rate", "increase", "topk", "histogram_quantile"}
LABELS = {"le", "node", "state", "reason", "kind", "route", "status"}


def _samples(http: httpx.Client) -> dict[tuple[str, tuple[str, ...]], float]:
    """(name, label values) -> value, of everything that is told."""
    answer = http.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


@pytest.mark.parametrize("path", ["/metrics", "/readyz"])
def test_without_a_token_only_healthz_answers(address: str, path: str) -> None:
    assert httpx.get(f"{address}/healthz", trust_env=False).json()["status"] == "ok"
    assert httpx.get(f"{address}{path}", trust_env=False).status_code == 401


def test_numbers_follow_what_happens(http: httpx.Client, laboratory: Laboratory) -> None:
    laboratory.submit()
    laboratory.fail_once()
    laboratory.work_off()
    told = _samples(http)
    assert told["modescope_runs_total", ("local-1", "valid")] == 180
    assert told["modescope_invalid_runs_total", ("local-1", "the benchmark ended with status 1")] == 1
    assert told["modescope_jobs", ("done",)] == 6
    assert told["modescope_fits_total", ()] == 5
    assert told["modescope_fit_seconds_total", ()] > 0
    assert told["modescope_node_state", ("local-1", "ready")] == 1
    assert told["modescope_spool_runs", ("local-1",)] == 0


def test_latencies_are_told_by_route_and_not_by_path(http: httpx.Client, laboratory: Laboratory) -> None:
    campaign = laboratory.submit()
    http.get(f"/api/v1/campaigns/{campaign.id}/progress")
    http.get("/api/v1/campaigns/77/progress")
    http.get("/api/v1/nothing/of/the/kind")
    counts = {labels: value for (name, labels), value in _samples(http).items() if name.endswith("seconds_count")}
    route = "/api/v1/campaigns/{campaign_id}/progress"
    assert counts["GET", route, "200"] == 1
    assert counts["GET", route, "404"] == 1
    assert counts["unknown", "unknown", "404"] == 1


@pytest.fixture
def away() -> dict[str, bool]:
    """What is away."""
    return {"redis": False}


@pytest.fixture
def checked(store: MemoryStore, away: dict[str, bool]) -> Iterator[httpx.Client]:
    """A service that needs a Redis."""

    def redis() -> None:
        if away["redis"]:
            raise UnavailableError("redis does not answer")

    with (
        serving(app.create(store, checks={"database": lambda: None, "redis": redis})) as address,
        httpx.Client(base_url=address, headers={"Authorization": f"Bearer {TOKEN}"}, trust_env=False) as http,
    ):
        yield http


def test_it_is_ready_while_all_it_needs_is_there(checked: httpx.Client, away: dict[str, bool]) -> None:
    answer = checked.get("/readyz")
    assert (answer.status_code, answer.json()["ready"]) == (200, True)
    away["redis"] = True
    answer = checked.get("/readyz")
    assert answer.status_code == 503
    assert answer.json() == {"ready": False, "checks": {"database": "ok", "redis": "redis does not answer"}}


def _asked_for() -> set[str]:
    """Names in the dashboard's expressions, without labels, values and words of the language."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    expressions = [target["expr"] for panel in panels for target in panel["targets"]]
    bare = (re.sub(r'\{[^}]*\}|\[[^]]*\]|"[^"]*"', "", expression) for expression in expressions)
    return {word for expression in bare for word in re.findall(r"[a-z_]\w*", expression)} - WORDS_OF_QUERIES - LABELS


def test_the_dashboard_uses_only_metrics_that_exist(http: httpx.Client, laboratory: Laboratory) -> None:
    laboratory.submit()
    laboratory.fail_once()
    laboratory.work_off()
    http.get("/healthz")  # a request that is over, for its latency
    names = {name for name, _ in _samples(http)} | {"modescope_job_failures_total"}  # which nothing here causes
    assert len(_asked_for()) > 10
    assert _asked_for() <= names


def test_the_dashboard_has_no_metric_by_another_name(http: httpx.Client) -> None:
    families = {family.name for family in text_string_to_metric_families(http.get("/metrics").text)}
    assert "modescope_job_failures" in families
