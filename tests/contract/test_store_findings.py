"""What came out, as pages ask for it."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest

from orchestrator.contracts.errors import NotFoundError
from orchestrator.contracts.findings import FamilySummary
from tests.contract.agents import Agent
from tests.contract.stores import StoreUnderTest
from tests.contract.studies import MODES, study, submitted
from tests.contract.test_store_analyses import analyse_all, leased, results


def test_outcomes_are_there_before_any_analysis_and_leave_controls_out(store: StoreUnderTest) -> None:
    campaign_id = submitted(store, study(settings=2, control=True))
    found = store.findings.outcomes(campaign_id)
    assert [(one.levels, one.mode) for one in found] == [
        ((n + 1, 4.0, "ssd"), mode) for n in range(2) for mode in MODES
    ]
    assert {(one.verdict, one.components, one.variation, one.median) for one in found} == {(None,) * 4}


def test_outcomes_carry_what_an_analysis_found(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    agent.work_off()
    analyse_all(store)
    first = store.findings.outcomes(campaign_id)[0]
    assert (first.verdict, first.components, first.variation, first.median) == ("multimodal", 2, 0.25, 500.0)


def test_a_summary_counts_families_and_components_and_no_controls(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=2, control=True))
    assert store.findings.summary(campaign_id).analysed == 0
    agent.work_off()
    agent = Agent(store, engines={"replay": "1"})
    agent.work_off()
    batch = leased(store)
    gamma = {"components": 1, "family": "gamma"}
    found = results(batch)
    store.analyses.store(batch, [replace(found[0], selection=gamma, verdict="unimodal"), *found[1:]])
    summary = store.findings.summary(campaign_id)
    assert (summary.analysed, summary.components) == (4, {1: 1, 2: 3})
    assert summary.verdicts == {"multimodal": 3, "unimodal": 1}
    assert summary.families == (
        FamilySummary(family="normal", bic_sum=42.0, fitted=4, best=3),
        FamilySummary(family="gamma", bic_sum=48.0, fitted=4, best=1),
    )


def test_a_configuration_is_found_again_in_re_runs_and_in_what_was_re_run(store: StoreUnderTest) -> None:
    first = submitted(store, study(settings=3))
    child = submitted(store, study(settings=2, parent=first))
    submitted(store, study(settings=2))
    there, here = (store.campaigns.configurations(campaign)[2] for campaign in (first, child))
    assert store.findings.repeats(first, there.setting_id, there.mode) == [here]
    assert store.findings.repeats(child, here.setting_id, here.mode) == [there]
    last = store.campaigns.configurations(first)[-1]
    assert store.findings.repeats(first, last.setting_id, last.mode) == []


def test_shares_count_the_valid_runs_of_each_node_by_setting(store: StoreUnderTest) -> None:
    campaign_id = submitted(store, study(settings=2, replicates=4, per_job=2))
    first, second = Agent(store, "n1"), Agent(store, "n2")
    job = first.take()
    first.measure(job)
    other = second.take()
    second.measure(other)
    found = store.findings.shares(campaign_id, {job.setting_id, other.setting_id, 10**6})
    told = {(setting, node, runs) for setting, nodes in found.items() for node, runs in nodes.items()}
    assert told == {(job.setting_id, "n1", 2), (other.setting_id, "n2", 2)}


def test_engines_tell_which_version_measured_what_on_which_node(store: StoreUnderTest) -> None:
    campaign_id = submitted(store, study(settings=2, replicates=4, per_job=2))
    first, second = Agent(store, "n1"), Agent(store, "n2")
    job, other = first.take(), second.take()
    mine = [replace(first.run(job, one), started_at=1e9 + place) for place, one in enumerate(job.pending)]
    newer = [replace(second.run(other, one), engine_version="2", started_at=1e9) for one in other.pending]
    store.runs.record([*mine, *newer, first.run(job, job.pending[0], valid=False)])
    found = store.findings.engines(campaign_id)
    assert [(one.node, one.engine, one.version, one.runs) for one in found] == [
        ("n1", job.engine, mine[0].engine_version, 2),
        ("n2", job.engine, "2", 2),
    ]
    assert (found[0].first_at, found[0].last_at) == pytest.approx((1e9, 1e9 + 1))


def test_circumstances_say_where_and_when_each_valid_run_was_made(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=2, replicates=2))
    job = agent.take()
    later, earlier = (replace(agent.run(job, pending), started_at=1e9 - n) for n, pending in enumerate(job.pending))
    failed = agent.run(job, job.pending[0], valid=False)
    store.runs.record([failed, later, replace(earlier, previous_setting_id=job.setting_id)])
    found = store.findings.circumstances(campaign_id, job.setting_id)
    assert [one.id for one in found] == [earlier.id, later.id]
    assert {(one.node, one.job, one.session) for one in found} == {(agent.node, job.job_id, agent.session)}
    assert [one.previous_levels for one in found] == [(job.setting["threads"], 4.0, "ssd"), None]
    assert found[0].values == dict(zip(MODES, earlier.values, strict=True))
    assert store.findings.circumstances(campaign_id + 1, job.setting_id) == []


def test_how_long_a_setting_takes_is_the_mean_of_its_valid_runs(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=2, replicates=2))
    job = agent.take()
    slow, fast = (agent.run(job, pending) for pending in job.pending)
    agent.record(replace(slow, elapsed_s=3.0), replace(fast, elapsed_s=1.0))
    settings = {one.setting_id for one in store.campaigns.configurations(campaign_id)}
    assert store.findings.elapsed_s(campaign_id, settings) == {job.setting_id: 2.0}
    assert store.findings.elapsed_s(campaign_id, []) == {}


def test_a_run_is_shown_with_what_was_told_and_observed(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(replicates=2))
    job = agent.take()
    runs = [
        replace(agent.run(job, pending), observed={"temperature_c": 40 + pending.replicate}, details={"ops": 7})
        for pending in job.pending
    ]
    agent.record(*runs)
    shown = store.findings.run(campaign_id, runs[1].id)
    assert (shown.replicate, shown.node, shown.modes, shown.values) == (1, "n1", MODES, runs[1].values)
    assert (shown.observed, shown.details) == ({"temperature_c": 41}, {"ops": 7})
    assert (shown.validity, shown.engine, shown.elapsed_s) == ("valid", "builtin", 0.25)


def test_a_run_of_another_campaign_or_of_none_is_not_found(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    job = agent.take()
    run = agent.run(job)
    agent.record(run)
    other = submitted(store, study())
    for campaign, wanted in ((other, run.id), (campaign_id, uuid4())):
        with pytest.raises(NotFoundError, match="no run"):
            store.findings.run(campaign, wanted)


def test_findings_of_no_campaign_are_not_found(store: StoreUnderTest) -> None:
    for asked in (store.findings.outcomes, store.findings.summary):
        with pytest.raises(NotFoundError):
            asked(77)
