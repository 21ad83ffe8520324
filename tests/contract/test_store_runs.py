"""A run is a fact: taken in once, whoever holds the job (DESIGN 1 and 8)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from uuid import uuid4

import pytest

from orchestrator.contracts.campaigns import State
from orchestrator.contracts.errors import ConflictError
from orchestrator.contracts.jobs import Ending, FailureKind
from orchestrator.contracts.runs import Receipt, Run
from tests.contract.agents import Agent, with_new_id, with_values
from tests.contract.stores import StoreUnderTest
from tests.contract.studies import jobs, study, submitted


def test_a_batch_is_sorted_into_valid_and_invalid(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(replicates=2))
    job = agent.take()
    good, bad = agent.run(job, job.pending[0]), agent.run(job, job.pending[1], valid=False)
    assert agent.record(good, bad) == Receipt(valid=(good.id,), invalid=(bad.id,))
    progress = store.campaigns.progress(campaign_id)
    assert (progress.valid_runs, progress.invalid_runs) == (1, 1)
    assert store.campaigns.invalid_reasons(campaign_id) == {"exit status 1": 1}


def test_an_empty_batch_is_nothing(store: StoreUnderTest) -> None:
    assert store.runs.record([]) == Receipt()


def test_a_run_sent_again_is_known_and_changes_nothing(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(replicates=2))
    job = agent.take()
    runs = [agent.run(job, job.pending[0]), agent.run(job, job.pending[1], valid=False)]
    agent.record(*runs)
    before = list(store.campaigns.export(campaign_id))
    assert set(agent.record(*runs).known) == {run.id for run in runs}
    assert list(store.campaigns.export(campaign_id)) == before
    assert store.campaigns.progress(campaign_id).valid_runs == 1


def test_of_two_versions_of_a_run_the_first_stays(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    run = agent.run(agent.take())
    agent.record(run)
    other = with_values(run, [1.5, 2.5])
    assert agent.record(other) == Receipt(conflicting=(run.id,))
    assert [row.value for row in store.campaigns.export(campaign_id)] == list(run.values)


def test_a_second_valid_run_of_a_replicate_is_superseded(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(replicates=2))
    first = agent.run(agent.take())
    second = with_new_id(first)
    agent.record(first)
    assert agent.record(second) == Receipt(superseded=(second.id,))
    progress = store.campaigns.progress(campaign_id)
    assert progress.valid_runs == 1
    assert [(share.valid, share.superseded) for share in progress.nodes] == [(1, 1)]


def test_of_two_valid_runs_in_one_batch_the_first_counts(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study())
    first = agent.run(agent.take())
    second = with_new_id(first)
    assert agent.record(first, second) == Receipt(valid=(first.id,), superseded=(second.id,))


def test_an_invalid_run_after_a_valid_one_is_just_invalid(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(replicates=2))
    job = agent.take()
    agent.record(agent.run(job))
    late = agent.run(job, valid=False)
    assert agent.record(late) == Receipt(invalid=(late.id,))
    assert store.campaigns.progress(campaign_id).valid_runs == 1


def test_of_many_that_bring_the_same_replicate_at_once_one_counts(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(replicates=3))
    job = agent.take()
    batches = [[agent.run(job, pending) for pending in job.pending] for _ in range(4)]
    with ThreadPoolExecutor(max_workers=4) as pool:
        receipts = list(pool.map(store.runs.record, batches))
    assert sum(len(receipt.valid) for receipt in receipts) == 3
    assert sum(len(receipt.superseded) for receipt in receipts) == 9
    assert store.campaigns.progress(campaign_id).valid_runs == 3


def test_the_last_run_completes_a_job_that_nobody_holds(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(replicates=2))
    job = agent.take()
    agent.measure(job, only=1)
    agent.finish(job, Ending.RELEASE)
    agent.record(agent.run(job, job.pending[1]))
    assert jobs(store, campaign_id) == {"done": 1}


def test_the_last_run_completes_a_job_that_is_only_offered(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    job = agent.take()
    agent.finish(job, Ending.RELEASE)
    (offer,) = store.control.dispatch()
    agent.measure(job)
    assert jobs(store, campaign_id) == {"done": 1}
    assert agent.claim(offer.job_id) is None


def test_a_leased_job_is_finished_by_its_holder(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    job = agent.take()
    agent.measure(job)
    assert jobs(store, campaign_id) == {"leased": 1}
    assert agent.finish(job)


def test_runs_of_a_job_that_was_given_to_another_node_count(store: StoreUnderTest) -> None:
    slow = Agent(store, "n1")
    campaign_id = submitted(store, study(replicates=2))
    job = slow.take()
    store.expire_leases()
    store.control.reconcile()
    quick = Agent(store, "n2")
    store.nodes.goodbye(slow.session)
    taken = quick.take()
    assert slow.record(slow.run(job, job.pending[0])).valid
    assert len(quick.measure(taken).superseded) == 1
    assert quick.finish(taken)
    shares = {share.node: (share.valid, share.superseded) for share in store.campaigns.progress(campaign_id).nodes}
    assert shares == {"n1": (1, 0), "n2": (1, 1)}


def test_a_spool_that_comes_home_completes_a_job_that_was_set_aside(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=2))
    job = agent.take()
    agent.fail(job, FailureKind.STUDY)
    assert jobs(store, campaign_id)["set_aside"] == 1
    agent.measure(job)
    assert jobs(store, campaign_id)["done"] == 1


def test_a_spool_that_comes_home_completes_an_incomplete_campaign(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    job = agent.take()
    agent.fail(job, FailureKind.STUDY)
    store.control.reconcile()
    assert store.campaigns.get(campaign_id).state is State.INCOMPLETE
    agent.measure(job)
    store.control.reconcile()
    campaign = store.campaigns.get(campaign_id)
    assert (campaign.state, campaign.missing) == (State.COMPLETE, {})


def test_a_later_session_brings_home_the_runs_of_an_earlier_one(store: StoreUnderTest) -> None:
    before = Agent(store)
    campaign_id = submitted(store, study(replicates=2))
    run = before.run(before.take())
    after = Agent(store)
    assert after.record(run).valid == (run.id,)
    assert after.record(run).known == (run.id,)
    assert store.campaigns.progress(campaign_id).valid_runs == 1


MISFITS: dict[str, Callable[[Run], Run]] = {
    "unknown session": lambda run: replace(run, session=uuid4()),
    "unknown setting": lambda run: replace(run, setting_id=run.setting_id + 1000),
    "unknown job": lambda run: replace(run, job_id=run.job_id + 1000),
    "replicate of no job": lambda run: replace(run, replicate=99),
    "a value too few": lambda run: with_values(run, run.values[:1]),
    "a value too many": lambda run: with_values(run, [*run.values, 1.0]),
    "valid without values": lambda run: with_values(run, []),
}


@pytest.mark.parametrize("misfit", MISFITS.values(), ids=MISFITS.keys())
def test_a_batch_with_a_run_that_does_not_fit_is_refused_whole(
    store: StoreUnderTest, misfit: Callable[[Run], Run]
) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(replicates=2))
    job = agent.take()
    good, bad = agent.run(job, job.pending[0]), misfit(agent.run(job, job.pending[1]))
    with pytest.raises(ConflictError):
        agent.record(good, bad)
    assert store.campaigns.progress(campaign_id).valid_runs == 0
    assert list(store.campaigns.export(campaign_id)) == []


def test_what_was_told_about_runs_is_kept_to_the_last_digit(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study(replicates=3))
    job = agent.take()
    told = [
        {"details": {"readers": {"parent_kbps": 889431.38}}, "observed": {"khz": 1 / 3, "governor": 'per"form\\ance'}},
        {"details": {"output": "Segmentation fault\né"}, "observed": {}},
    ]
    failed, quiet = agent.run(job, job.pending[1], valid=False), agent.run(job, job.pending[2])
    runs = [replace(agent.run(job), **told[0]), replace(failed, reason='ended with "11"\\n', **told[1])]
    agent.record(*runs, quiet)
    assert store.runs.told(job.setting_id) == {run.id: expected for run, expected in zip(runs, told, strict=True)}
