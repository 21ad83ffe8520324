"""What counters say about a campaign, as pages and over the API."""

from __future__ import annotations

from dataclasses import replace
from html import unescape

import httpx
import numpy as np
import pytest

from orchestrator.campaigns import counters
from orchestrator.contracts.campaigns import Configuration
from orchestrator.contracts.errors import ConflictError
from orchestrator.contracts.jobs import Assignment, Pending
from orchestrator.contracts.runs import Run
from orchestrator.store.memory import MemoryStore
from tests.unit.measured import Laboratory

STUDY = """
name: counted
design:
  blocks:
    - levels: {file_size_kb: [4, 8, 16, 32, 64, 128, 256, 512, 1024], record_size_kb: [4], threads: [1, 2]}
      modes: [readers]
replicates: 40
replicates_per_job: 40
engine: builtin
analysis: {families: [normal], max_components: 2}
"""


class Counting(Laboratory):
    """Slow runs switch contexts ten times as often; a run takes as long as its misses a cycle say."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self._chance = np.random.default_rng(5)

    def _run(self, job: Assignment, pending: Pending, *, reason: str | None = None) -> Run:
        run = super()._run(job, pending, reason=reason)
        slow = bool(run.values) and min(run.values) < 1_050_000
        misses = 1e-3 * (1 + np.log2(float(job.setting.get("file_size_kb", 4))))
        perf = {
            "cycles": 1e9,
            "context-switches": float(self._chance.poisson(1000 if slow else 100)),
            "cache-misses": round(1e9 * misses),
            "instructions": float(self._chance.integers(10**8, 2 * 10**8)),
        }
        return replace(run, elapsed_s=1 + 100 * misses, observed={"perf": perf, "frequency_khz": 2_000_000})


@pytest.fixture
def counted(store: MemoryStore) -> Configuration:
    """A flagged configuration whose runs were counted."""
    laboratory = Counting(store)
    campaign = laboratory.submit(STUDY)
    laboratory.work_off()
    return store.campaigns.configurations(campaign.id, verdict="multimodal")[0]


def path(found: Configuration) -> str:
    return f"/campaigns/{found.campaign_id}/configurations/{found.setting_id}/{found.mode}"


def test_the_counter_that_goes_with_the_modes_is_named(counted: Configuration, store: MemoryStore) -> None:
    found = counters.apart(store, counted.campaign_id, counted.setting_id, counted.mode)
    assert found.per_cycle
    assert found.separation.tells
    assert found.separation.tellers[0].counter == "context-switches (perf)"
    assert "the upper one has fewer context-switches (perf) a cycle" in found.sentence


def test_the_configuration_leads_to_its_counters(counted: Configuration, browser: httpx.Client) -> None:
    assert f"{path(counted)}/counters" in browser.get(path(counted)).text
    page = unescape(browser.get(f"{path(counted)}/counters").text)
    assert "The counters tell the modes apart" in page
    assert "context-switches (perf)" in page


def test_the_api_tells_the_same(counted: Configuration, browser: httpx.Client) -> None:
    told = browser.get(f"/api/v1{path(counted)}/counters").json()
    assert told["separation"]["tellers"][0]["counter"] == "context-switches (perf)"
    model = browser.get(f"/api/v1/campaigns/{counted.campaign_id}/counters").json()
    assert model["had"] == {"perf": 18, "perf_rotate": 0, "proc": 0, "rapl": 0, "power": 0}
    assert model["models"][0]["target"] == "runtime"
    assert model["models"][0]["ranking"][0]["counter"] == "cache-misses (perf)"
    assert model["models"][0]["mean_error_percent"] < 1


def test_a_campaign_has_its_model_on_a_page_that_says_what_it_had(
    counted: Configuration, browser: httpx.Client
) -> None:
    page = unescape(browser.get(f"/campaigns/{counted.campaign_id}/counters").text)
    assert "18 settings were looked at" in page
    assert "cache-misses (perf)" in page
    assert "No model of node_power: no run told node_power" in page


def test_without_counters_it_is_said_how_to_ask_for_them(store: MemoryStore, browser: httpx.Client) -> None:
    laboratory = Laboratory(store)
    campaign = laboratory.submit()
    laboratory.work_off()
    found = store.campaigns.configurations(campaign.id, verdict="multimodal", mode="readers")[0]
    with pytest.raises(ConflictError, match=r"node\.collect"):
        counters.apart(store, campaign.id, found.setting_id, "readers")
    assert "nothing was counted" in browser.get(f"{path(found)}/counters").text
    assert browser.get(f"/api/v1{path(found)}/counters").status_code == 409
    page = browser.get(f"/campaigns/{campaign.id}/counters").text
    assert "Nothing was counted around the runs" in page


def test_one_mode_is_nothing_to_tell_apart(counted: Configuration, store: MemoryStore) -> None:
    one = store.campaigns.configurations(counted.campaign_id, verdict="unimodal")[0]
    with pytest.raises(ConflictError, match="one density mode"):
        counters.apart(store, one.campaign_id, one.setting_id, one.mode)


def test_the_report_has_a_section_where_something_was_counted(counted: Configuration, browser: httpx.Client) -> None:
    report = unescape(browser.get(f"/api/v1/campaigns/{counted.campaign_id}/report").text)
    assert "Which counters tell the modes of flagged configurations apart" in report
    assert "context-switches (perf)" in report
