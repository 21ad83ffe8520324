"""Claim and renew: one holder a job, one job a node, and a token that proves it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

from orchestrator.contracts.jobs import Ending, Pending
from tests.contract.agents import Agent
from tests.contract.stores import StoreUnderTest
from tests.contract.studies import CONTROL, MODES, jobs, study, submitted


def test_an_assignment_holds_all_that_the_work_takes(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(replicates=2, engine_options={"timeout_s": 30.0}))
    job = agent.take()
    assert (job.campaign_id, job.attempt, job.ledger) == (campaign_id, 1, store.ledger)
    assert job.setting == {"threads": 1, "file_size_kb": 4.0, "target": "ssd"}
    assert (job.modes, job.engine, job.max_tries) == (MODES, "builtin", 3)
    assert (job.engine_options, job.node_options) == ({"timeout_s": 30.0}, {"trim": "never"})
    assert job.pending == (Pending(replicate=0, attempt=0), Pending(replicate=1, attempt=0))
    assert agent.shown().job_id == job.job_id


def test_a_lease_lasts_the_time_out_of_a_run_and_fifteen_seconds(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study(engine_options={"timeout_s": 30.0}))
    assert agent.take().lease_s == 45.0


def test_a_study_that_names_no_time_out_has_that_of_its_engine(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study())
    assert agent.take().lease_s == 615.0


def test_a_control_is_played_back_whatever_the_study_measures_with(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study(settings=0, control=True, engine="iozone"))
    job = agent.take()
    assert (job.engine, job.engine_options) == ("replay", CONTROL)
    assert (job.levels, job.modes, job.setting) == ((), ("control_two",), {})
    assert job.node_options == {}


def test_a_job_that_is_not_offered_cannot_be_claimed(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study(settings=3))
    offered = {offer.job_id for offer in store.control.dispatch(outstanding=1)}
    others = set(range(max(offered) + 10)) - offered
    assert [agent.claim(job_id) for job_id in others] == [None] * len(others)


def test_a_job_offered_to_one_node_cannot_be_claimed_by_another(store: StoreUnderTest) -> None:
    agents = {agent.node: agent for agent in (Agent(store, "n1"), Agent(store, "n2"))}
    submitted(store, study())
    (offer,) = store.control.dispatch()
    (other,) = set(agents) - {offer.node}
    assert agents[other].claim(offer.job_id) is None
    assert agents[offer.node].claim(offer.job_id) is not None


def test_a_message_delivered_twice_is_claimed_once(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study())
    (offer,) = store.control.dispatch()
    assert agent.claim(offer.job_id) is not None
    assert agent.claim(offer.job_id) is None


def test_a_node_has_one_job_at_a_time(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=2))
    first, second = store.control.dispatch()
    job = agent.claim(first.job_id)
    assert job is not None
    assert agent.claim(second.job_id) is None
    assert jobs(store, campaign_id) == {"leased": 1, "offered": 1}
    agent.measure(job)
    agent.finish(job)
    assert agent.claim(second.job_id) is not None


def test_a_new_session_waits_until_what_the_earlier_one_held_is_given_back(store: StoreUnderTest) -> None:
    before = Agent(store)
    submitted(store, study(settings=2))
    first, second = store.control.dispatch()
    assert before.claim(first.job_id) is not None
    after = Agent(store)
    assert after.claim(second.job_id) is None
    store.jobs.release_node(after.node, after.session)
    assert after.claim(second.job_id) is not None


def test_of_many_that_claim_at_once_one_succeeds(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study(settings=2))
    offers = store.control.dispatch()
    with ThreadPoolExecutor(max_workers=6) as pool:
        claims = list(pool.map(agent.claim, [offer.job_id for offer in offers] * 3))
    assert sum(claim is not None for claim in claims) == 1


def test_a_session_that_has_ended_claims_nothing(store: StoreUnderTest) -> None:
    before = Agent(store)
    submitted(store, study())
    (offer,) = store.control.dispatch()
    after = Agent(store)
    assert before.claim(offer.job_id) is None
    assert after.claim(offer.job_id) is not None


def test_a_session_or_a_job_that_nobody_knows_claims_nothing(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study())
    (offer,) = store.control.dispatch()
    assert store.jobs.claim(offer.job_id, uuid4()) is None
    assert agent.claim(offer.job_id + 1000) is None


def test_every_claim_has_a_token_and_a_number_of_its_own(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study())
    first = agent.take()
    agent.finish(first, Ending.RELEASE)
    second = agent.take()
    assert (first.job_id, first.attempt, second.attempt) == (second.job_id, 1, 2)
    assert first.token != second.token


def test_a_later_claim_is_told_only_what_is_still_missing(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study(replicates=3))
    job = agent.take()
    agent.record(
        agent.run(job, job.pending[0]),
        agent.run(job, job.pending[1], valid=False),
        agent.run(job, job.pending[1], valid=False),
    )
    agent.finish(job, Ending.RELEASE)
    assert agent.take().pending == (Pending(replicate=1, attempt=2), Pending(replicate=2, attempt=0))


def test_a_holder_may_go_on(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study())
    job = agent.take()
    answer = store.jobs.renew(job.job_id, job.token)
    assert (answer.granted, answer.stop) == (True, None)


def test_only_the_token_of_the_present_claim_is_renewed(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study())
    first = agent.take()
    agent.finish(first, Ending.RELEASE)
    second = agent.take()
    assert not store.jobs.renew(first.job_id, first.token).granted
    assert not store.jobs.renew(first.job_id, uuid4()).granted
    assert not store.jobs.renew(first.job_id + 1000, first.token).granted
    assert store.jobs.renew(second.job_id, second.token).granted


def test_an_expired_lease_that_nobody_took_is_renewed(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    job = agent.take()
    store.expire_leases()
    assert store.jobs.renew(job.job_id, job.token).granted
    store.control.reconcile()
    assert jobs(store, campaign_id) == {"leased": 1}


def test_a_lease_that_was_taken_back_is_not_renewed(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study())
    job = agent.take()
    store.expire_leases()
    store.control.reconcile()
    answer = store.jobs.renew(job.job_id, job.token)
    assert (answer.granted, answer.stop) == (False, None)
