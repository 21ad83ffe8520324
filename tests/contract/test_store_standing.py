"""Why is this job not running? One sentence, with the reason that has to go first."""

from __future__ import annotations

import pytest

from orchestrator.contracts.errors import NotFoundError
from orchestrator.contracts.jobs import FailureKind, State
from tests.contract.agents import Agent
from tests.contract.stores import StoreUnderTest
from tests.contract.studies import study, submitted


def _first_job(store: StoreUnderTest, campaign_id: int) -> int:
    return store.jobs.of_campaign(campaign_id)[0].id


def _why(store: StoreUnderTest, campaign_id: int) -> str:
    """Of the campaign's first job."""
    return store.jobs.why(campaign_id, _first_job(store, campaign_id))


def test_jobs_are_listed_in_their_order_and_by_state(store: StoreUnderTest) -> None:
    campaign_id = submitted(store, study(settings=3))
    Agent(store).take()
    listed = store.jobs.of_campaign(campaign_id)
    assert [(job.position, job.ordinal, job.replicates) for job in listed] == [(0, 0, 1), (1, 1, 1), (2, 2, 1)]
    assert [job.state for job in listed] == [State.LEASED, State.OFFERED, State.QUEUED]
    assert (listed[0].node, listed[0].attempts, listed[2].node) == ("n1", 1, None)
    assert [job.position for job in store.jobs.of_campaign(campaign_id, states=[State.QUEUED])] == [2]
    assert [job.position for job in store.jobs.of_campaign(campaign_id, after=0, limit=1)] == [1]


def test_a_job_of_another_campaign_is_not_found(store: StoreUnderTest) -> None:
    first, second = submitted(store, study()), submitted(store, study())
    with pytest.raises(NotFoundError, match=f"campaign {second} has no job"):
        store.jobs.why(second, _first_job(store, first))


def test_without_any_node_that_is_the_reason(store: StoreUnderTest) -> None:
    assert _why(store, submitted(store, study())).startswith("no node has reported yet")


def test_a_paused_campaign_is_the_reason(store: StoreUnderTest) -> None:
    campaign_id = submitted(store, study())
    store.campaigns.pause(campaign_id)
    assert _why(store, campaign_id).startswith(f"campaign {campaign_id} is paused")


def test_an_engine_that_no_node_has_is_the_reason(store: StoreUnderTest) -> None:
    Agent(store, engines={"builtin": "1"})
    assert _why(store, submitted(store, study(engine="iozone"))) == "no node has the engine 'iozone'"


def test_nodes_that_could_but_are_away_are_named(store: StoreUnderTest) -> None:
    Agent(store, "n1"), Agent(store, "n2"), Agent(store, "n3", engines={})
    store.forget_node("n1")
    store.nodes.drain("n2")
    reason = _why(store, submitted(store, study()))
    assert reason.startswith("no node with engine 'builtin' is at work: n1 is offline, last heard of 1 h ago, n2 is dr")
    assert "n3" not in reason


def test_a_job_waits_for_the_node_it_is_pinned_to(store: StoreUnderTest) -> None:
    Agent(store, "n1"), Agent(store, "n2")
    campaign_id = submitted(store, study(placement="pinned", node="n2"))
    store.forget_node("n2")
    assert _why(store, campaign_id) == "it belongs to node n2, which is offline, last heard of 1 h ago"


def test_a_node_that_never_came_is_waited_for_by_name(store: StoreUnderTest) -> None:
    Agent(store, "n1")
    campaign_id = submitted(store, study(placement="pinned", node="n9"))
    assert _why(store, campaign_id) == "it belongs to node n9, whose agent has never reported"


def test_an_earlier_campaign_goes_first(store: StoreUnderTest) -> None:
    Agent(store)
    first, second = submitted(store, study(settings=3)), submitted(store, study())
    store.control.dispatch()
    store.control.reconcile()
    assert _why(store, second) == f"campaign {first} goes first: it is older and has jobs waiting"


def test_a_job_waits_for_those_before_it_while_the_node_is_busy(store: StoreUnderTest) -> None:
    campaign_id = submitted(store, study(settings=5))
    held = Agent(store).take()
    store.control.reconcile()
    last = store.jobs.of_campaign(campaign_id)[-1]
    waits = store.jobs.why(campaign_id, last.id)
    assert waits == f"2 jobs of its campaign are before it, and busy are n1 with job {held.job_id}"


def test_without_a_controller_nothing_is_offered(store: StoreUnderTest) -> None:
    Agent(store)
    campaign_id = submitted(store, study())
    store.leave_alone(120)
    assert _why(store, campaign_id).startswith("no controller has looked for 2 min")


def test_an_offer_is_not_yet_taken_by_a_busy_node(store: StoreUnderTest) -> None:
    campaign_id = submitted(store, study(settings=2))
    held = Agent(store).take()
    offered = store.jobs.of_campaign(campaign_id, states=[State.OFFERED])[0]
    reason = store.jobs.why(campaign_id, offered.id)
    assert reason == f"it is offered to n1 for 0 s and not yet taken: n1 is busy with job {held.job_id}"


def test_a_leased_job_says_where_it_runs(store: StoreUnderTest) -> None:
    campaign_id = submitted(store, study())
    Agent(store).take()
    assert _why(store, campaign_id).startswith("it runs on n1 now")
    store.expire_leases()
    assert _why(store, campaign_id) == "n1 holds it, but its lease ran out 1 s ago; the controller takes it back"


def test_what_failed_before_is_told_with_its_reason(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    agent.fail(agent.take(), FailureKind.ENGINE, "exit status 9")
    store.control.reconcile()
    assert _why(store, campaign_id).endswith("; it failed once before, the last time on n1: exit status 9")
    assert store.jobs.of_campaign(campaign_id)[0].reason == "exit status 9"


def test_a_job_set_aside_says_why(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    agent.fail(agent.take(), FailureKind.STUDY, "no such target")
    store.control.reconcile()
    assert _why(store, campaign_id) == "it is set aside after it failed once: no such target"


def test_done_and_cancelled_jobs_say_so(store: StoreUnderTest) -> None:
    agent = Agent(store)
    done = submitted(store, study())
    agent.work_off()
    assert _why(store, done) == "it is done, on n1: every replicate of it has its valid run"
    cancelled = submitted(store, study())
    store.campaigns.cancel(cancelled)
    assert _why(store, cancelled) == f"it is cancelled, with campaign {cancelled}"


def test_events_are_read_on_from_where_one_stopped(store: StoreUnderTest) -> None:
    for campaign_id in [submitted(store, study()), submitted(store, study())]:
        store.campaigns.cancel(campaign_id)
    newer, older = store.campaigns.events()
    assert newer.id > older.id
    assert store.campaigns.events(after=older.id) == [newer]
    assert store.campaigns.events(before=newer.id) == [older]
