"""Rounds: jobs of several nodes that begin together, and what becomes of whoever is away, late or at fault."""

from __future__ import annotations

from collections import Counter

import pytest

from orchestrator.contracts.campaigns import EventKind
from orchestrator.contracts.campaigns import State as CampaignState
from orchestrator.contracts.jobs import Assignment, Ending, FailureKind, LineUp, State
from orchestrator.store.rules import LOST_AFTER_S
from tests.contract.agents import Agent
from tests.contract.stores import StoreUnderTest
from tests.contract.studies import in_lockstep, study, submitted

NODES = ("n1", "n2", "n3")


def agents(store: StoreUnderTest, *nodes: str) -> list[Agent]:
    return [Agent(store, node) for node in nodes or NODES]


def line_up(agent: Agent, job: Assignment) -> LineUp:
    return agent.store.jobs.line_up(job.job_id, job.token)


def offered(store: StoreUnderTest) -> list[str]:
    return sorted(offer.node for offer in store.control.dispatch())


def finish(agent: Agent, job: Assignment) -> None:
    agent.measure(job)
    assert agent.finish(job)


def carry_out_a_round(*taking_part: Agent) -> list[Assignment]:
    taken = [agent.take() for agent in taking_part]
    for agent, job in zip(taking_part, taken, strict=True):
        line_up(agent, job)
    for agent, job in zip(taking_part, taken, strict=True):
        finish(agent, job)
    return taken


def test_a_round_is_offered_to_all_of_its_nodes_at_once_and_the_next_one_when_all_are_free(
    store: StoreUnderTest,
) -> None:
    n1, n2, n3 = agents(store)
    submitted(store, in_lockstep(NODES, rounds=2))
    assert offered(store) == list(NODES)
    taken = [agent.take() for agent in (n1, n2, n3)]
    assert [job.round for job in taken] == [0, 0, 0]
    finish(n1, taken[0])
    finish(n2, taken[1])
    assert offered(store) == []
    finish(n3, taken[2])
    assert offered(store) == list(NODES)


def test_who_is_ready_waits_for_the_others_and_all_are_given_one_instant(store: StoreUnderTest) -> None:
    n1, n2, n3 = agents(store)
    submitted(store, in_lockstep(NODES))
    one, two, three = n1.take(), n2.take(), n3.take()
    waits = line_up(n1, one)
    assert (waits.granted, waits.start_at) == (True, None)
    assert waits.again_s > 0
    assert line_up(n2, two).start_at is None
    last = line_up(n3, three)
    assert last.start_at is not None
    assert last.database_time is not None
    assert last.start_at > last.database_time + waits.again_s  # who asked just before hears of it in time
    assert line_up(n1, one).start_at == line_up(n2, two).start_at == last.start_at


def test_a_run_tells_when_it_was_to_begin(store: StoreUnderTest) -> None:
    n1, n2 = agents(store, "n1", "n2")
    campaign_id = submitted(store, in_lockstep(("n1", "n2")))
    jobs = carry_out_a_round(n1, n2)
    runs = store.campaigns.configuration(campaign_id, jobs[0].setting_id, "readers").runs
    assert {run.round for run in runs} == {0}
    assert len({run.start_at for run in runs}) == 1
    assert None not in {run.start_at for run in runs}


def test_who_does_not_come_in_time_begins_alone(store: StoreUnderTest) -> None:
    n1, n2, n3 = agents(store)
    submitted(store, in_lockstep(NODES, wait_s=20.0))
    one, two, three = n1.take(), n2.take(), n3.take()
    assert line_up(n1, one).start_at is None
    store.pass_time(21.0)
    together = line_up(n2, two).start_at
    assert together is not None
    assert line_up(n1, one).start_at == together
    late = line_up(n3, three).start_at
    assert late is not None
    assert late > together


@pytest.mark.parametrize("ending", [Ending.RELEASE, Ending.FAIL])
def test_who_gives_its_job_back_before_the_start_is_not_waited_for(store: StoreUnderTest, ending: Ending) -> None:
    n1, n2, n3 = agents(store)
    submitted(store, in_lockstep(NODES, rounds=2))
    one, two, three = n1.take(), n2.take(), n3.take()
    line_up(n1, one)
    if ending is Ending.FAIL:
        assert n3.fail(three, FailureKind.ENGINE)
    else:
        assert n3.finish(three, ending)
    assert line_up(n2, two).start_at is not None
    finish(n1, one)
    finish(n2, two)
    assert [agent.take().round for agent in (n1, n2, n3)] == [1, 1, 1]


def test_what_is_left_over_of_a_round_comes_after_the_last_round(store: StoreUnderTest) -> None:
    n1, n2, n3 = agents(store)
    campaign_id = submitted(store, in_lockstep(NODES, rounds=2))
    one, two, three = n1.take(), n2.take(), n3.take()
    line_up(n1, one), line_up(n2, two), line_up(n3, three)
    finish(n1, one)
    finish(n2, two)
    assert n3.finish(three, Ending.RELEASE)  # its run was invalid
    carry_out_a_round(n1, n2, n3)
    again = n3.take()
    assert (again.job_id, again.round) == (three.job_id, 0)
    assert line_up(n3, again).start_at is not None  # alone
    finish(n3, again)
    store.control.reconcile()
    assert store.campaigns.get(campaign_id).state is CampaignState.COMPLETE


def test_a_node_that_is_offline_is_waited_for(store: StoreUnderTest) -> None:
    agents(store)
    campaign_id = submitted(store, in_lockstep(NODES))
    store.forget_node("n2")
    assert offered(store) == []
    assert store.campaigns.progress(campaign_id).waits_for == ("n2",)
    agents(store, "n2")
    assert offered(store) == list(NODES)


def test_one_that_has_never_reported_is_waited_for(store: StoreUnderTest) -> None:
    agents(store, "n1", "n2")
    submitted(store, in_lockstep(NODES))
    assert offered(store) == []
    agents(store, "n3")
    assert offered(store) == list(NODES)


def test_rounds_go_on_without_a_lost_node_and_with_it_when_it_is_back(store: StoreUnderTest) -> None:
    n1, n2, _ = agents(store)
    campaign_id = submitted(store, in_lockstep(NODES, rounds=3))
    store.forget_node("n3")
    store.control.reconcile()
    store.pass_time(LOST_AFTER_S + 1)
    n1.hello(), n2.hello()
    store.control.reconcile()
    lost = store.campaigns.events(campaign_id)[0]
    assert (lost.kind, lost.node) == (EventKind.NODE_LOST, "n3")
    assert lost.message == "node n3 is offline for 15 min: the rounds go on without it"
    carry_out_a_round(n1, n2)
    n3 = Agent(store, "n3")
    carry_out_a_round(n1, n2, n3)
    carry_out_a_round(n1, n2, n3)
    assert n3.take().round == 0  # what it missed, at the end
    assert store.campaigns.progress(campaign_id).lost == ()


def test_a_study_may_wait_for_lost_nodes(store: StoreUnderTest) -> None:
    n1, n2, _ = agents(store)
    submitted(store, in_lockstep(NODES, on_lost_node="wait"))
    store.forget_node("n3")
    store.control.reconcile()
    store.pass_time(LOST_AFTER_S + 1)
    n1.hello(), n2.hello()
    store.control.reconcile()
    assert offered(store) == []


def test_what_lost_nodes_have_left_is_set_aside_when_nothing_else_is_to_do(store: StoreUnderTest) -> None:
    n1, n2, _ = agents(store)
    campaign_id = submitted(store, in_lockstep(NODES))
    store.forget_node("n3")
    store.control.reconcile()
    store.pass_time(LOST_AFTER_S + 1)
    n1.hello(), n2.hello()
    store.control.reconcile()
    carry_out_a_round(n1, n2)
    store.control.reconcile()
    campaign = store.campaigns.get(campaign_id)
    assert campaign.state is CampaignState.INCOMPLETE
    assert campaign.missing == {"node n3 was lost: the rounds went on without it": 1}


def test_rounds_go_on_without_a_node_that_drains(store: StoreUnderTest) -> None:
    n1, n2, n3 = agents(store)
    submitted(store, in_lockstep(NODES, rounds=2))
    store.nodes.drain("n3")
    assert offered(store) == ["n1", "n2"]
    carry_out_a_round(n1, n2)
    store.nodes.reinstate("n3")
    assert offered(store) == list(NODES)
    carry_out_a_round(n1, n2, n3)
    assert n3.take().round == 0


def test_rounds_go_on_without_a_quarantined_node(store: StoreUnderTest) -> None:
    n1, n2, n3 = agents(store)
    campaign_id = submitted(store, in_lockstep(NODES, rounds=5))
    for _ in range(3):
        one, two, three = n1.take(), n2.take(), n3.take()
        assert n3.fail(three, FailureKind.NODE, "disk full")
        line_up(n1, one), line_up(n2, two)
        finish(n1, one), finish(n2, two)
        store.control.reconcile()
    carry_out_a_round(n1, n2)
    carry_out_a_round(n1, n2)
    store.control.reconcile()
    campaign = store.campaigns.get(campaign_id)
    assert campaign.state is CampaignState.INCOMPLETE
    assert campaign.missing == {"no node left: n3 is quarantined (disk full)": 5}


def test_a_round_takes_two_nodes(store: StoreUnderTest) -> None:
    agents(store, "n1", "n2")
    submitted(store, in_lockstep(("n1", "n2")))
    store.nodes.drain("n2")
    assert offered(store) == []


def test_a_dead_agent_holds_its_round_up_until_its_lease_has_run_out(store: StoreUnderTest) -> None:
    n1, n2, n3 = agents(store)
    submitted(store, in_lockstep(NODES, rounds=2))
    one, two, _ = n1.take(), n2.take(), n3.take()
    line_up(n1, one)
    assert line_up(n2, two).start_at is None
    store.expire_leases()
    n1.store.jobs.renew(one.job_id, one.token)
    n2.store.jobs.renew(two.job_id, two.token)
    store.control.reconcile()
    assert line_up(n2, two).start_at is not None
    assert line_up(n1, one).start_at == line_up(n2, two).start_at


def test_a_paused_round_is_given_back_and_begins_again_as_a_whole(store: StoreUnderTest) -> None:
    n1, n2 = agents(store, "n1", "n2")
    campaign_id = submitted(store, in_lockstep(("n1", "n2")))
    one, two = n1.take(), n2.take()
    store.campaigns.pause(campaign_id)
    assert line_up(n1, one).stop == "pause"
    n1.finish(one, Ending.RELEASE), n2.finish(two, Ending.RELEASE)
    store.campaigns.resume(campaign_id)
    assert offered(store) == ["n1", "n2"]


def test_nobody_waits_for_a_cancelled_round(store: StoreUnderTest) -> None:
    n1, n2 = agents(store, "n1", "n2")
    campaign_id = submitted(store, in_lockstep(("n1", "n2")))
    one, _ = n1.take(), n2.take()
    store.campaigns.cancel(campaign_id)
    assert line_up(n1, one).granted is False


def test_later_campaigns_keep_off_the_nodes_of_rounds_that_are_still_to_come(store: StoreUnderTest) -> None:
    n1, n2 = agents(store, "n1", "n2")
    Agent(store, "n3")
    submitted(store, in_lockstep(("n1", "n2"), rounds=2))
    submitted(store, study(replicates=8, per_job=1))
    assert Counter(offered(store)) == {"n1": 1, "n2": 1, "n3": 2}
    carry_out_a_round(n1, n2)
    assert Counter(offered(store)) == {"n1": 2, "n2": 2}  # behind the last round there is a place


def test_a_spool_that_comes_home_late_leaves_nobody_waiting(store: StoreUnderTest) -> None:
    n1, n2 = agents(store, "n1", "n2")
    campaign_id = submitted(store, in_lockstep(("n1", "n2")))
    one, two = n1.take(), n2.take()
    run = n1.run(one)
    store.expire_leases()
    store.control.reconcile()
    n1.record(run)
    assert store.job_states()[one.job_id] is State.DONE
    again = n2.take()
    assert again.job_id == two.job_id
    assert line_up(n2, again).start_at is not None
    finish(n2, again)
    store.control.reconcile()
    assert store.campaigns.get(campaign_id).state is CampaignState.COMPLETE
