"""How far a campaign is, and what it has found."""

from __future__ import annotations

import pytest

from orchestrator.contracts.analyses import Result
from orchestrator.contracts.errors import NotFoundError
from orchestrator.contracts.runs import Validity
from tests.contract.agents import Agent
from tests.contract.stores import StoreUnderTest
from tests.contract.studies import MODES, study, submitted


def test_before_the_first_run_nobody_knows_how_long_it_takes(store: StoreUnderTest) -> None:
    progress = store.campaigns.progress(submitted(store, study(settings=2)))
    assert (progress.valid_runs, progress.invalid_runs, progress.nodes) == (0, 0, ())
    assert (progress.runs_per_s, progress.time_left_s, progress.elapsed_s) == (None, None, 0.0)
    assert not progress.verdicts_final


def test_the_rate_is_that_of_the_last_minute(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(replicates=4))
    agent.measure(agent.take(), only=1)
    runs_per_s = store.campaigns.progress(campaign_id).runs_per_s
    assert runs_per_s is not None
    assert runs_per_s > 0


def test_of_an_ended_campaign_no_time_is_left_and_its_clock_stands(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    agent.work_off()
    first, second = store.campaigns.progress(campaign_id), store.campaigns.progress(campaign_id)
    assert first.time_left_s == 0
    assert first.elapsed_s == second.elapsed_s > 0


def test_each_node_has_its_share(store: StoreUnderTest) -> None:
    agents = [Agent(store, "n1"), Agent(store, "n2")]
    campaign_id = submitted(store, study(settings=2))
    store.control.dispatch()
    for agent in agents:
        job = agent.take()
        agent.record(agent.run(job, valid=False))
        agent.measure(job)
    store.nodes.goodbye(agents[1].session)
    progress = store.campaigns.progress(campaign_id)
    assert (progress.valid_runs, progress.invalid_runs) == (2, 2)
    shares = [(share.node, share.valid, share.invalid, share.superseded, share.online) for share in progress.nodes]
    assert shares == [("n1", 1, 1, 0, True), ("n2", 1, 1, 0, False)]


def test_configurations_come_in_order_of_setting_and_mode(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=2, replicates=2, control=True))
    agent.measure(agent.take(), only=1)
    found = store.campaigns.configurations(campaign_id)
    assert [(one.ordinal, one.mode) for one in found] == [
        (0, MODES[0]), (0, MODES[1]), (1, MODES[0]), (1, MODES[1]), (2, "control_two")
    ]  # fmt: skip
    assert [one.valid_runs for one in found] == [1, 1, 0, 0, 0]
    assert [one.control for one in found] == [None, None, None, None, "two"]
    assert found[0].levels == (1, 4.0, "ssd")
    assert [one.verdict for one in found] == [None] * 5


def test_configurations_of_one_mode_may_be_asked_for(store: StoreUnderTest) -> None:
    campaign_id = submitted(store, study(settings=2))
    found = store.campaigns.configurations(campaign_id, mode="readers")
    assert [(one.ordinal, one.mode) for one in found] == [(0, "readers"), (1, "readers")]
    assert store.campaigns.configurations(campaign_id, mode="re-readers") == []


def test_every_measured_value_is_exported_with_where_it_came_from(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=2, replicates=2, per_job=1))
    agent.work_off()
    rows = list(store.campaigns.export(campaign_id))
    assert [(row.levels[0], row.replicate, row.mode) for row in rows] == [
        (setting, replicate, mode) for setting in (1, 2) for replicate in (0, 1) for mode in MODES
    ]
    assert [row.value for row in rows] == [0.0, 1.0, 1000.0, 1001.0] * 2
    assert {(row.node, row.valid, row.reason, row.control) for row in rows} == {("n1", Validity.VALID, None, None)}
    assert [row.block for row in rows] == [0, 0, 1, 1] * 2
    assert [row.position for row in rows] == [0, 0, 2, 2, 1, 1, 3, 3]
    assert len({row.job for row in rows}) == 4


def test_failed_runs_are_exported_without_a_value(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    job = agent.take()
    agent.record(agent.run(job, valid=False))
    agent.measure(job)
    rows = list(store.campaigns.export(campaign_id))
    by_validity = {row.valid: (row.value is None, row.reason) for row in rows}
    assert by_validity == {Validity.INVALID: (True, "exit status 1"), Validity.VALID: (False, None)}
    assert len(rows) == 4


def test_a_throughput_of_zero_is_a_value(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    agent.work_off()
    assert [row.value for row in store.campaigns.export(campaign_id)] == [0.0, 1.0]


def test_the_controller_hears_of_changes(store: StoreUnderTest) -> None:
    store.control.wait(timeout_s=0.01)
    Agent(store)
    submitted(store, study())
    store.control.wait(timeout_s=60)  # longer than a test may take


def test_one_configuration_is_shown_with_its_fit_and_every_run(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=2, replicates=2))
    job = agent.take()
    agent.record(agent.run(job, valid=False))
    agent.measure(job)
    agent.work_off()
    batch = store.analyses.lease("1")
    assert batch is not None
    one = next(found for found in batch.analyses if (found.setting_id, found.mode) == (job.setting_id, MODES[1]))
    found = {"selection": {"components": 2}, "verdict": "multimodal", "sentence": "Two."}
    result = Result(analysis_id=one.id, digest=one.digest, **found)
    store.analyses.store(batch, [result])
    page = store.campaigns.configuration(campaign_id, job.setting_id, MODES[1])
    shown = page.configuration
    assert (shown.mode, shown.verdict, shown.components) == (MODES[1], "multimodal", 2)
    assert page.selection == {"components": 2}
    assert sorted((run.replicate, run.validity, run.value) for run in page.runs) == [
        (0, "invalid", None), (0, "valid", 1.0), (1, "valid", 1001.0)
    ]  # fmt: skip
    assert store.campaigns.configuration(campaign_id, job.setting_id, MODES[0]).selection is None


def test_a_configuration_that_the_design_does_not_have_is_not_found(store: StoreUnderTest) -> None:
    campaign_id = submitted(store, study())
    setting_id = store.campaigns.configurations(campaign_id)[0].setting_id
    for setting, mode in ((setting_id, "re-readers"), (setting_id + 7, MODES[0])):
        with pytest.raises(NotFoundError, match="no configuration"):
            store.campaigns.configuration(campaign_id, setting, mode)
