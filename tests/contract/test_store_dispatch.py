"""Which job goes to which node next."""

from __future__ import annotations

from collections import Counter

import pytest

from orchestrator.contracts.jobs import FailureKind
from tests.contract.agents import Agent
from tests.contract.stores import StoreUnderTest
from tests.contract.studies import jobs, study, submitted


def test_without_nodes_nothing_is_offered(store: StoreUnderTest) -> None:
    submitted(store, study())
    assert store.control.dispatch() == []


def test_a_node_has_at_most_two_jobs_outstanding(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=5))
    assert len(store.control.dispatch()) == 2
    assert store.control.dispatch() == []
    (first, _) = store.control.unheard(older_than_s=0)
    agent.claim(first.job_id)
    assert store.control.dispatch() == []
    assert jobs(store, campaign_id) == {"leased": 1, "offered": 1, "queued": 3}


def test_how_many_are_outstanding_may_be_said(store: StoreUnderTest) -> None:
    Agent(store)
    submitted(store, study(settings=5))
    assert len(store.control.dispatch(outstanding=1)) == 1
    assert len(store.control.dispatch(outstanding=4)) == 3


def test_jobs_are_handed_out_in_the_order_of_the_plan(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=3, replicates=2, per_job=1))
    agent.work_off()
    rows = sorted(store.campaigns.export(campaign_id), key=lambda row: row.job)
    assert [row.position for row in rows] == sorted(row.position for row in rows)
    first, *_ = store.campaigns.export(campaign_id)
    assert (first.position, first.block) == (0, 0)


def test_an_earlier_campaign_goes_first(store: StoreUnderTest) -> None:
    Agent(store)
    first = submitted(store, study())
    second = submitted(store, study(settings=2))
    store.control.dispatch()
    assert jobs(store, first) == {"offered": 1}
    assert jobs(store, second) == {"offered": 1, "queued": 1}


def test_a_short_queue_spreads_over_the_nodes(store: StoreUnderTest) -> None:
    for node in ("n1", "n2", "n3"):
        Agent(store, node)
    submitted(store, study(settings=3))
    assert Counter(offer.node for offer in store.control.dispatch()) == {"n1": 1, "n2": 1, "n3": 1}


def test_a_pinned_job_goes_to_its_node_alone(store: StoreUnderTest) -> None:
    Agent(store, "n1")
    submitted(store, study(settings=2, placement="pinned", node="n2"))
    assert store.control.dispatch() == []
    Agent(store, "n2")
    assert [offer.node for offer in store.control.dispatch()] == ["n2", "n2"]


def test_a_job_goes_only_where_its_engine_is(store: StoreUnderTest) -> None:
    Agent(store, "n1", engines={"builtin": "1"})
    submitted(store, study(engine="iozone"))
    assert store.control.dispatch() == []
    Agent(store, "n2", engines={"iozone": "3.489"})
    assert [offer.node for offer in store.control.dispatch()] == ["n2"]


def test_recordings_are_played_anywhere(store: StoreUnderTest) -> None:
    Agent(store, engines={})
    submitted(store, study(settings=0, control=True, engine="iozone"))
    options = {"mixture": "normal:1,100,1"}
    submitted(store, study(engine="replay", engine_options=options))
    assert len(store.control.dispatch()) == 2


def test_a_node_that_cannot_do_a_job_is_never_asked_again(store: StoreUnderTest) -> None:
    agents = {node: Agent(store, node) for node in ("n1", "n2")}
    submitted(store, study())
    (offer,) = store.control.dispatch()
    job = agents[offer.node].take()
    agents[offer.node].fail(job, FailureKind.STUDY)
    (other,) = set(agents) - {offer.node}
    assert [offer.node for offer in store.control.dispatch()] == [other]


def test_a_job_that_failed_goes_to_another_node_first(store: StoreUnderTest) -> None:
    agents = {node: Agent(store, node) for node in ("n1", "n2", "n3")}
    submitted(store, study(replicates=2))
    tried = []
    for _ in agents:
        (offer,) = store.control.dispatch()
        job = agents[offer.node].take()
        agents[offer.node].measure(job, only=0)
        tried.append(offer.node)
        if len(tried) < 3:
            agents[offer.node].fail(job, FailureKind.ENGINE)
    assert sorted(tried) == ["n1", "n2", "n3"]


def test_a_job_that_failed_stays_where_there_is_no_other_node(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study())
    agent.fail(agent.take(), FailureKind.ENGINE)
    assert [offer.node for offer in store.control.dispatch()] == ["n1"]


@pytest.mark.parametrize("nodes", [2, 3])
def test_in_a_balanced_study_nodes_differ_by_at_most_one_job_a_setting(store: StoreUnderTest, nodes: int) -> None:
    agents = [Agent(store, f"n{number}") for number in range(nodes)]
    campaign_id = submitted(store, study(settings=2, replicates=2 * nodes + 1, per_job=1, placement="balanced"))
    for _ in range(nodes + 2):  # the first node is as quick as it may be, the others do two jobs in between
        agents[0].work_off()
        for other in agents[1:]:
            other.work_off(jobs=2)
    assert set(jobs(store, campaign_id)) == {"done"}
    for shares in jobs_by_setting_and_node(store, campaign_id).values():
        assert len(shares) == nodes
        assert max(shares.values()) - min(shares.values()) <= 1


def jobs_by_setting_and_node(store: StoreUnderTest, campaign_id: int) -> dict[object, Counter[str]]:
    shares: dict[object, Counter[str]] = {}
    for levels, node, _ in {(row.levels, row.node, row.job) for row in store.campaigns.export(campaign_id)}:
        shares.setdefault(levels, Counter())[node] += 1
    return shares


def test_balance_counts_only_nodes_that_have_the_engine(store: StoreUnderTest) -> None:
    Agent(store, "n1", engines={"builtin": "1"})
    able = Agent(store, "n2", engines={"iozone": "3.489"})
    campaign_id = submitted(store, study(engine="iozone", replicates=4, per_job=1, placement="balanced"))
    able.work_off()
    assert jobs(store, campaign_id) == {"done": 4}


def test_a_balanced_job_that_failed_on_the_node_whose_turn_it_is_goes_to_another(store: StoreUnderTest) -> None:
    agents = {node: Agent(store, node) for node in ("n1", "n2")}
    campaign_id = submitted(store, study(replicates=2, per_job=1, placement="balanced"))
    store.control.dispatch()
    done, failed = agents["n1"].take(), agents["n2"].take()
    agents["n1"].measure(done)
    agents["n1"].finish(done)
    agents["n2"].fail(failed, FailureKind.STUDY)
    agents["n1"].work_off()
    assert jobs(store, campaign_id) == {"done": 2}


def test_an_offer_nobody_takes_up_is_sent_again(store: StoreUnderTest) -> None:
    Agent(store)
    submitted(store, study(settings=2))
    offers = store.control.dispatch()
    assert sorted(store.control.unheard(older_than_s=0), key=str) == sorted(offers, key=str)


def test_a_young_offer_is_not_sent_again(store: StoreUnderTest) -> None:
    Agent(store)
    submitted(store, study())
    store.control.dispatch()
    assert store.control.unheard(older_than_s=3600) == []


def test_an_agent_that_reports_anew_is_told_again_what_it_is_offered(store: StoreUnderTest) -> None:
    agents = [Agent(store, "n1"), Agent(store, "n2")]
    submitted(store, study(settings=2))
    offers = store.control.dispatch()
    agents[0].hello()
    assert store.control.unheard(older_than_s=3600) == [offer for offer in offers if offer.node == "n1"]
    assert store.control.unheard(older_than_s=3600) == []


def test_a_node_at_work_is_not_reminded(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study(settings=2))
    agent.take()
    assert store.control.unheard(older_than_s=0) == []
