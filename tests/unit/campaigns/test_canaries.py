"""What canaries say about nodes, through the store."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from orchestrator.campaigns.canaries import canaries
from orchestrator.contracts.errors import ConflictError
from orchestrator.contracts.jobs import Assignment
from orchestrator.contracts.runs import Run
from orchestrator.design import study
from orchestrator.design.submission import submission
from orchestrator.report import content, page
from tests.contract.agents import Agent
from tests.contract.stores import MemoryUnderTest

NODES = ("n1", "n2", "n3")
TEXT = """
name: watched
design:
  blocks:
    - levels: {threads: [1, 2], file_size_kb: [64], record_size_kb: [16]}
      modes: [initial_writers, readers]
engine: builtin
replicates: 12
placement: balanced
canaries: {settings: [{threads: 2, file_size_kb: 64, record_size_kb: 16}], times: 8, runs: 2}
"""


def values(rng: np.random.Generator, node: str) -> tuple[float, ...]:
    slow = 0.85 if node == "n3" else 1.0
    return tuple(float(slow * usual * np.exp(rng.normal(0, 0.01))) for usual in (800.0, 1200.0))


def drawn(agent: Agent, job: Assignment, rng: np.random.Generator, at: float) -> list[Run]:
    runs = [agent.run(job, pending) for pending in job.pending]
    return [replace(run, values=values(rng, agent.node), started_at=at + place) for place, run in enumerate(runs)]


@pytest.fixture(scope="module")
def measured() -> tuple[MemoryUnderTest, int]:
    """Three nodes, of which one is slow."""
    store, rng = MemoryUnderTest(), np.random.default_rng(4)
    agents = [Agent(store, node) for node in NODES]
    campaign, _ = store.campaigns.submit(submission(study.load(TEXT, where="watched.yaml"), nodes=NODES))
    for turn in count():
        busy = [_one(agent, rng, 1.6e9 + 1000 * turn + 100 * place) for place, agent in enumerate(agents)]
        if not any(busy):
            break
    store.control.reconcile()
    return store, campaign.id


def _one(agent: Agent, rng: np.random.Generator, at: float) -> bool:
    job = agent.try_to_take()
    if job is None:
        return False
    agent.record(*drawn(agent, job, rng, at))
    return agent.finish(job)


def test_every_node_has_measured_them_equally_often(measured: tuple[MemoryUnderTest, int]) -> None:
    found = canaries(*measured)
    assert [(one.node, one.visits, one.runs) for one in found.nodes] == [(node, 8, 16) for node in NODES]
    assert found.modes == ("initial_writers", "readers")
    assert len(found.settings) == 1


def test_the_slow_node_is_named_and_nothing_is_left_out_by_itself(measured: tuple[MemoryUnderTest, int]) -> None:
    store, campaign_id = measured
    found = canaries(store, campaign_id)
    assert [one.standing for one in found.nodes] == ["equivalent", "equivalent", "different"]
    assert found.nodes[2].difference == pytest.approx(-0.15, abs=0.02)
    assert any("modescope node drain n3" in proposal for proposal in found.proposals)
    assert any(f"campaign rerun {campaign_id} --flag multimodal --nodes n1,n2" in text for text in found.proposals)
    assert {node.state for node in store.nodes.all()} == {"ready"}
    assert store.campaigns.get(campaign_id).has_canaries


def test_the_report_has_them_beside_its_nodes(measured: tuple[MemoryUnderTest, int]) -> None:
    html = page.render(content.gather(*measured))
    assert '<section id="canaries">' in html
    assert html.count("<td>equivalent</td>") == 2
    assert html.count("<td>different</td>") == 1


def test_a_study_without_canaries_says_so() -> None:
    store = MemoryUnderTest()
    plain = TEXT.replace("canaries:", "# canaries:")
    campaign, _ = store.campaigns.submit(submission(study.load(plain, where="plain.yaml"), nodes=NODES))
    with pytest.raises(ConflictError, match="has no canaries"):
        canaries(store, campaign.id)
    assert not store.campaigns.get(campaign.id).has_canaries


def test_before_the_first_run_there_is_nothing_to_tell() -> None:
    store = MemoryUnderTest()
    campaign, _ = store.campaigns.submit(submission(study.load(TEXT, where="watched.yaml"), nodes=NODES))
    with pytest.raises(ConflictError, match="none of its canaries has a valid run"):
        canaries(store, campaign.id)
