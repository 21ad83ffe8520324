"""Campaigns and nodes at a glance."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.contracts.analyses import Result
from orchestrator.contracts.campaigns import State
from orchestrator.contracts.errors import NotFoundError
from orchestrator.contracts.jobs import FailureKind
from orchestrator.contracts.overviews import Pace
from tests.contract.agents import Agent
from tests.contract.stores import StoreUnderTest
from tests.contract.studies import study, submitted


def test_re_runs_follow_the_campaign_they_descend_from(store: StoreUnderTest) -> None:
    first, second = submitted(store, study()), submitted(store, study())
    child = submitted(store, study(parent=first))
    grandchild = submitted(store, study(parent=child))
    found = store.overviews.campaigns()
    assert [(one.root_id, one.campaign.id) for one in found] == [
        (second, second), (first, first), (first, child), (first, grandchild)
    ]  # fmt: skip
    assert [one.campaign.id for one in store.overviews.family(grandchild)] == [first, child, grandchild]
    assert [one.campaign.id for one in store.overviews.family(second)] == [second]


def test_a_list_comes_in_pages_of_campaigns_that_are_no_re_run(store: StoreUnderTest) -> None:
    ids = [submitted(store, study()) for _ in range(3)]
    child = submitted(store, study(parent=ids[1]))
    newest = store.overviews.campaigns(limit=1)
    assert [one.campaign.id for one in newest] == [ids[2]]
    older = store.overviews.campaigns(before=newest[-1].root_id, limit=1)
    assert [one.campaign.id for one in older] == [ids[1], child]
    assert [one.campaign.id for one in store.overviews.campaigns(before=ids[1])] == [ids[0]]


def test_a_campaign_in_a_list_has_its_counters(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=2))
    job = agent.take()
    agent.record(agent.run(job, valid=False))
    agent.measure(job)
    assert agent.finish(job)
    agent.work_off()
    batch = store.analyses.lease("1")
    assert batch is not None
    found, unfit = batch.analyses[:2]
    store.analyses.store(
        batch,
        [
            Result(
                analysis_id=found.id,
                digest=found.digest,
                selection={"components": 2},
                verdict="multimodal",
                sentence="Two.",
            ),
            Result(
                analysis_id=unfit.id, digest=unfit.digest, selection=None, verdict=None, sentence=None, error="flat"
            ),
        ],
    )
    (one,) = store.overviews.campaigns()
    assert (one.campaign, one.campaign.state) == (store.campaigns.get(campaign_id), State.COMPLETE)
    assert (one.valid_runs, one.invalid_runs, one.analysed, one.verdicts) == (2, 1, 2, {"multimodal": 1})


def test_a_campaign_without_runs_has_no_pace(store: StoreUnderTest) -> None:
    assert store.overviews.pace(submitted(store, study())) == Pace(runs_per_s={}, slices=())


def test_runs_of_jobs_that_nobody_claimed_have_a_pace(store: StoreUnderTest) -> None:
    """As imported runs do."""
    agent = Agent(store)
    first, second = (submitted(store, study()) for _ in range(2))
    run = agent.run(agent.take())
    (job,) = store.jobs.of_campaign(second if run.campaign_id == first else first)
    agent.record(replace(run, campaign_id=job.campaign_id, job_id=job.id, setting_id=job.setting_id))
    assert store.overviews.pace(job.campaign_id).runs_per_s == {"n1": 1.0}


def test_what_is_imported_has_no_pace(store: StoreUnderTest) -> None:
    agent, campaign_id = Agent(store), submitted(store, study())
    run = agent.run(agent.take())
    agent.record(replace(run, engine="imported"))
    assert store.overviews.pace(campaign_id) == Pace(runs_per_s={}, slices=())
    (node,) = store.overviews.nodes()
    assert (node.valid, node.last_minute, node.last_ten_minutes) == (1, 0, 0)
    assert store.campaigns.progress(campaign_id).runs_per_s == 0


def test_the_pace_is_told_by_node(store: StoreUnderTest) -> None:
    agents = [Agent(store, "n1"), Agent(store, "n2")]
    campaign_id = submitted(store, study(settings=3, replicates=4))
    for agent, runs in zip(agents, (3, 1), strict=True):
        agent.measure(agent.take(), only=runs)
    pace = store.overviews.pace(campaign_id)
    assert set(pace.runs_per_s) == {"n1", "n2"}
    assert pace.runs_per_s["n1"] == pytest.approx(3 * pace.runs_per_s["n2"])
    store.campaigns.cancel(campaign_id)
    assert set(store.overviews.pace(campaign_id).runs_per_s) == {"n1", "n2"}


def test_a_slice_without_runs_is_a_zero_and_an_unfinished_one_is_left_out() -> None:
    assert Pace.in_slices({1000.0: 20, 1020.0: 5, 1030.0: 1}, until=1034) == (2.0, 0.0, 0.5)
    assert Pace.in_slices({}, until=1034) == ()


def test_what_a_node_did_is_counted_over_all_campaigns(store: StoreUnderTest) -> None:
    agent, idle = Agent(store, "n1"), Agent(store, "n2")
    submitted(store, study())
    agent.work_off()
    second = submitted(store, study(replicates=3, node="n1", placement="pinned"))
    job = agent.take()
    agent.record(agent.run(job, valid=False))
    agent.measure(job, only=1)
    mine, other = store.overviews.nodes()
    assert (mine.node, mine.campaign_id, mine.valid, mine.invalid) == (agent.node, second, 2, 1)
    assert (mine.last_minute, mine.last_ten_minutes, mine.runs_per_min) == (2, 2, 0.2)
    assert mine.invalid_share == pytest.approx(1 / 3)
    assert (other.node, other.campaign_id, other.valid, other.invalid_share) == (idle.node, None, 0, None)


def test_jobs_that_were_set_aside_are_counted_by_their_reason(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=3))
    for reason in ("no such file", "no such file", "no space"):
        assert agent.fail(agent.take(), FailureKind.STUDY, reason)
    store.control.reconcile()
    assert store.overviews.set_aside(campaign_id) == {"no such file": 2, "no space": 1}


def test_a_campaign_that_is_not_there_has_no_family(store: StoreUnderTest) -> None:
    with pytest.raises(NotFoundError):
        store.overviews.family(4711)
