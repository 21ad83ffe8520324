"""What ended badly is taken back; what is over, ends."""

from __future__ import annotations

from orchestrator.contracts.campaigns import EventKind, State
from orchestrator.contracts.jobs import Ending, FailureKind
from tests.contract.agents import Agent
from tests.contract.stores import StoreUnderTest
from tests.contract.studies import jobs, study, submitted


def test_an_expired_lease_goes_back_to_the_queue(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    job = agent.take()
    store.expire_leases()
    store.control.reconcile()
    assert jobs(store, campaign_id) == {"queued": 1}
    assert store.jobs.held_by("n1") == []
    assert not agent.finish(job)


def test_a_live_lease_is_left_alone(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    agent.take()
    store.forget_node("n1")
    store.control.reconcile()
    assert jobs(store, campaign_id) == {"leased": 1}


def test_after_a_gap_of_the_controllers_every_lease_has_the_gap_on_top(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    agent.take()
    store.expire_leases()
    store.leave_alone(60)
    store.control.reconcile()
    assert jobs(store, campaign_id) == {"leased": 1}
    store.expire_leases()
    store.control.reconcile()
    assert jobs(store, campaign_id) == {"queued": 1}


def test_offers_to_a_node_that_is_gone_go_back_to_the_queue(store: StoreUnderTest) -> None:
    Agent(store)
    campaign_id = submitted(store, study(settings=2))
    store.control.dispatch()
    store.forget_node("n1")
    store.control.reconcile()
    assert jobs(store, campaign_id) == {"queued": 2}


def test_a_campaign_with_every_run_ends_complete(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=2, replicates=2, per_job=1, control=True))
    agent.work_off()
    campaign = store.campaigns.get(campaign_id)
    assert (campaign.state, campaign.missing) == (State.COMPLETE, {})
    assert campaign.ended_at is not None
    assert store.campaigns.progress(campaign_id).valid_runs == campaign.expected_runs


def test_a_campaign_with_open_jobs_goes_on(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=2))
    agent.work()
    store.control.reconcile()
    assert store.campaigns.get(campaign_id).state is State.RUNNING


def test_a_campaign_that_lacks_runs_ends_incomplete_and_says_why(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=3, replicates=2))
    for reason, measured in (("too many threads", 0), ("no such target", 1)):
        job = agent.take()
        agent.measure(job, only=measured)
        agent.fail(job, FailureKind.STUDY, reason)
    agent.work_off()
    campaign = store.campaigns.get(campaign_id)
    assert campaign.state is State.INCOMPLETE
    assert campaign.missing == {"too many threads": 2, "no such target": 1}


def test_what_is_missing_is_counted_again_when_a_spool_brings_a_part_of_it(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(replicates=4))
    job = agent.take()
    agent.fail(job, FailureKind.STUDY, "too many threads")
    store.control.reconcile()
    agent.measure(job, only=3)
    store.control.reconcile()
    campaign = store.campaigns.get(campaign_id)
    assert (campaign.state, campaign.missing) == (State.INCOMPLETE, {"too many threads": 1})
    agent.record(agent.run(job, job.pending[3]))
    store.control.reconcile()
    campaign = store.campaigns.get(campaign_id)
    assert (campaign.state, campaign.missing) == (State.COMPLETE, {})
    assert store.campaigns.events(campaign_id)[0].kind == EventKind.CAMPAIGN_COMPLETE


def test_an_end_is_told(store: StoreUnderTest) -> None:
    agent = Agent(store)
    complete, incomplete, cancelled = (submitted(store, study()) for _ in range(3))
    store.campaigns.cancel(cancelled)
    agent.work()
    agent.fail(agent.take(), FailureKind.STUDY)
    store.control.reconcile()
    store.control.reconcile()
    assert [event.kind for event in store.campaigns.events(complete)] == [EventKind.CAMPAIGN_COMPLETE]
    assert [event.kind for event in store.campaigns.events(cancelled)] == [EventKind.CAMPAIGN_CANCELLED]
    assert [event.kind for event in store.campaigns.events(incomplete)] == [
        EventKind.CAMPAIGN_INCOMPLETE,
        EventKind.JOB_SET_ASIDE,
    ]


def test_events_come_newest_first_and_as_many_as_asked_for(store: StoreUnderTest) -> None:
    first, second = submitted(store, study()), submitted(store, study())
    store.campaigns.cancel(first)
    store.campaigns.cancel(second)
    assert [event.campaign_id for event in store.campaigns.events()] == [second, first]
    assert [event.campaign_id for event in store.campaigns.events(limit=1)] == [second]
    assert [event.campaign_id for event in store.campaigns.events(first)] == [first]


def test_where_every_node_is_quarantined_the_campaign_ends_and_says_so(store: StoreUnderTest) -> None:
    agents = [Agent(store, "n1"), Agent(store, "n2")]
    campaign_id = submitted(store, study(settings=9))
    for agent in agents:
        for _ in range(3):
            agent.fail(agent.take(), FailureKind.NODE, "the disk is full")
    store.control.reconcile()
    campaign = store.campaigns.get(campaign_id)
    assert campaign.state is State.INCOMPLETE
    ((reason, missing),) = campaign.missing.items()
    assert missing == 9
    assert "no node" in reason
    assert "the disk is full" in reason


def test_a_job_pinned_to_a_quarantined_node_is_given_up(store: StoreUnderTest) -> None:
    sick = Agent(store, "n1")
    Agent(store, "n2")
    campaign_id = submitted(store, study(settings=4, placement="pinned", node="n1"))
    for _ in range(3):
        sick.fail(sick.take(), FailureKind.NODE)
    store.control.reconcile()
    assert store.campaigns.get(campaign_id).state is State.INCOMPLETE


def test_nothing_is_given_up_while_a_node_may_come_back(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    store.nodes.goodbye(agent.session)
    store.control.reconcile()
    assert jobs(store, campaign_id) == {"queued": 1}
    assert store.campaigns.get(campaign_id).state is State.RUNNING


def test_a_paused_campaign_whose_last_job_is_done_ends(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    job = agent.take()
    store.campaigns.pause(campaign_id)
    agent.measure(job)
    agent.finish(job, Ending.COMPLETE)
    store.control.reconcile()
    assert store.campaigns.get(campaign_id).state is State.COMPLETE


def test_a_second_pass_changes_nothing(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=2))
    agent.take()
    store.expire_leases()
    store.control.reconcile()
    before = jobs(store, campaign_id), store.campaigns.get(campaign_id), store.campaigns.events()
    store.control.reconcile()
    assert (jobs(store, campaign_id), store.campaigns.get(campaign_id), store.campaigns.events()) == before


def test_one_controller_leads_at_a_time(store: StoreUnderTest) -> None:
    with store.control.leader() as first, store.control.leader() as second:
        assert first
        assert not second
    with store.control.leader() as leads:
        assert leads
        store.control.reconcile()
