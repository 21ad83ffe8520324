"""Rates and time left, by way of the service and the terminal."""

from __future__ import annotations

import httpx
import pytest

from orchestrator.campaigns.forecaster import Forecaster
from orchestrator.client import Client
from orchestrator.contracts.errors import NotFoundError
from orchestrator.store.memory import MemoryStore
from tests.unit.api.test_cli_campaign import Modescope, modescope, online
from tests.unit.measured import NODE, STUDY, Laboratory

__all__ = ["modescope", "online"]
ANOTHER_ENGINE = """
name: another engine
design: {blocks: [{levels: {step: [1, 2]}, modes: [readers]}]}
replicates: 30
engine: {name: replay, mixture: "normal:1,1000,1", run_s: 0.5}
"""


@pytest.fixture
def half_done(store: MemoryStore, laboratory: Laboratory) -> int:
    """A campaign of which some jobs are done, and told."""
    campaign = laboratory.submit()
    for _ in range(3):
        laboratory.work()
    Forecaster(store).once()
    return campaign.id


def test_the_time_left_is_told_with_its_interval_and_shorter_with_more_nodes(client: Client, half_done: int) -> None:
    now, more = client.time_left(half_done), client.time_left(half_done, nodes=3)
    assert now.time_left_s is not None
    assert more.time_left_s is not None
    assert more.time_left_s < 0.5 * now.time_left_s
    assert client.time_left(half_done, replicates=31).time_left_s != now.time_left_s
    with pytest.raises(NotFoundError):
        client.time_left(99)


def test_rates_are_told_of_a_campaign_and_of_every_node(client: Client, half_done: int) -> None:
    assert [rate.node for rate in client.rates(half_done)] == [NODE]
    assert client.rates() == client.rates(half_done)
    with pytest.raises(NotFoundError):
        client.rates(99)


def test_a_study_takes_as_long_as_its_like_took_before(client: Client, half_done: int) -> None:
    told = client.duration(STUDY, nodes=2)
    assert told.campaigns == [half_done]
    assert told.low_s < told.seconds < told.high_s
    other = client.duration(ANOTHER_ENGINE, nodes=2)
    assert (other.runs, list(other.campaigns)) == (0, [])


def test_monitoring_sees_rates_and_the_time_left(http: httpx.Client, half_done: int) -> None:
    said = http.get("/metrics").text
    assert f'modescope_node_runs_per_second{{bound="estimate",node="{NODE}"}}' in said
    assert f'modescope_campaign_time_left_seconds{{bound="high",campaign="{half_done}"}}' in said


def test_the_terminal_shows_rates_and_answers_what_if(online: Modescope, half_done: int) -> None:
    assert "runs/min" in online("node", "list").out
    status = online("campaign", "status", half_done).out
    assert "time left" in status
    assert "runs/min" in status
    said = online("campaign", "time-left", half_done, "--nodes", "+2", "--replicates", "45").out
    assert said.startswith("Time left ")
    assert "on 3 nodes" in said
    assert online("campaign", "time-left", half_done, "--json").json()["nodes"] == 1


def test_a_check_asks_the_service_what_past_campaigns_cost(
    online: Modescope, half_done: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("study") / "study.yaml"
    path.write_text(STUDY)
    assert f"of past campaigns ({half_done})" in online("design", "check", path).out
    assert online("design", "check", "xu2020", "--json").json()["duration"]["runs"] == 0
