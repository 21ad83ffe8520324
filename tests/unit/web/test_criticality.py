"""Which nodes would hold a campaign's rounds up, as a page, over the API and in the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from itertools import count

import httpx
import numpy as np
import pytest

from orchestrator.campaigns import criticality, side_by_side
from orchestrator.design import study
from orchestrator.design.submission import submission
from orchestrator.store.memory import MemoryStore
from tests.contract.agents import Agent
from tests.unit.measured import Laboratory

NODES = ("n1", "n2", "n3", "n4")
TEXT = """
name: side by side
design:
  blocks:
    - levels: {threads: [1, 2], file_size_kb: [64], record_size_kb: [16]}
      modes: [readers]
engine: builtin
replicates: 80
replicates_per_job: 5
placement: balanced
"""


def measured(store: MemoryStore, extra_s: Mapping[str, float], *, observing: bool = True) -> int:
    """A campaign that four nodes have measured; `extra_s`: what a node's runs last longer, on average."""
    rng = np.random.default_rng(11)
    agents = [Agent(store, node) for node in NODES]
    campaign, _ = store.campaigns.submit(submission(study.load(TEXT, where="study.yaml"), nodes=NODES))
    for turn in count():
        at = 1.6e9 + 1000 * turn
        worked = [_one(agent, rng, extra_s.get(agent.node, 0.0), at, observing=observing) for agent in agents]
        if not any(worked):
            break
    return campaign.id


def _one(agent: Agent, rng: np.random.Generator, extra_s: float, at: float, *, observing: bool) -> bool:
    job = agent.try_to_take()
    if job is None:
        return False
    runs = []
    for place, pending in enumerate(job.pending):
        delay_s = extra_s + rng.exponential(0.1)
        warmth = {"temperature_c": 40 + 20 * delay_s, "foreign_cpus": rng.random()} if observing else {}
        run = agent.run(job, pending)
        runs.append(replace(run, elapsed_s=1 + delay_s, started_at=at + 10 * place, observed=warmth))
    agent.record(*runs)
    return agent.finish(job)


def test_a_node_that_is_always_slower_is_named_with_what_tells(store: MemoryStore) -> None:
    found = criticality.nodes_of(store, measured(store, {"n3": 0.2}))
    assert (found.settings, found.rounds, len(found.nodes)) == (2, 40, 4)
    first = found.nodes[0]
    assert (first.node, first.stands_out) == ("n3", True)
    assert first.low < first.share < first.high
    assert first.low > first.chance
    assert not any(one.stands_out for one in found.nodes[1:])
    assert found.sets[-1].overlap > found.sets[-1].chance
    assert found.quantities[0].name == "temperature at the end (°C)"
    assert [one.tells for one in found.quantities] == [True, False]
    assert found.sentence.startswith("Critical more often than chance explains: n3 (")


def test_where_it_moves_nobody_is_named(store: MemoryStore) -> None:
    found = criticality.nodes_of(store, measured(store, {}))
    assert found.labelled_rounds > criticality.FEWEST_ROUNDS
    assert found.sentence.startswith("It moves")
    assert not found.lockstep


def test_the_kth_run_of_a_node_is_in_round_k_as_long_as_two_nodes_have_one(store: MemoryStore) -> None:
    campaign_id = measured(store, {})
    setting = store.campaigns.configurations(campaign_id)[0]
    runs = store.campaigns.configuration(campaign_id, setting.setting_id, setting.mode).runs
    of_one = [run for run in runs if run.node == "n1"]
    few = [run for run in runs if run.node == "n2"][:3]
    rounds = side_by_side.put_together([*of_one, *few])
    assert [number for number, run in rounds if run.node == "n1"] == [0, 1, 2]
    assert side_by_side.put_together(of_one) == []


def test_the_page_and_the_api_and_the_report_tell_it(store: MemoryStore, browser: httpx.Client) -> None:
    here = f"/campaigns/{measured(store, {'n3': 0.2})}"
    assert f"{here}/criticality" in browser.get(here).text
    page = unescape(browser.get(f"{here}/criticality").text)
    assert "These rounds did not start together (no lockstep)" in page
    assert "Critical more often than chance explains: n3" in page
    assert "<svg" in page.split("<figure", 1)[1]
    answer = browser.get(f"/api/v1{here}/criticality")
    told = answer.json()
    assert (told["nodes"][0]["node"], told["lockstep"]) == ("n3", False)
    assert (
        browser.get(f"/api/v1{here}/criticality", headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
    )
    report = unescape(browser.get(f"/api/v1{here}/report").text)
    assert "Who would hold rounds up" in report
    assert "temperature at the end (°C) (more where critical" in report


def test_where_nothing_was_observed_it_is_said(store: MemoryStore, browser: httpx.Client) -> None:
    here = f"/campaigns/{measured(store, {'n3': 0.2}, observing=False)}"
    assert "Nothing was observed around the runs" in browser.get(f"{here}/criticality").text
    assert browser.get(f"/api/v1{here}/criticality").json()["quantities"] == []


def test_one_node_holds_nobody_up(store: MemoryStore, browser: httpx.Client) -> None:
    laboratory = Laboratory(store)
    campaign = laboratory.submit()
    laboratory.work_off()
    page = browser.get(f"/campaigns/{campaign.id}/criticality").text
    assert "No setting has valid runs of two nodes" in page
    assert "Who would hold rounds up" not in browser.get(f"/api/v1/campaigns/{campaign.id}/report").text


@pytest.mark.parametrize("path", ["/campaigns/99/criticality", "/api/v1/campaigns/99/criticality"])
def test_a_campaign_that_is_not_there_is_not_found(browser: httpx.Client, path: str) -> None:
    assert browser.get(path).status_code == 404
