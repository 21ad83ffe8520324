"""Analysis is work in the ledger too (DESIGN 9)."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.contracts.analyses import Batch, Judgement, Result
from orchestrator.contracts.campaigns import WARM_UP, Submission
from orchestrator.contracts.confirmations import Confirmation, Outcome, Pooled
from orchestrator.contracts.jobs import Ending
from tests.contract.agents import Agent
from tests.contract.stores import StoreUnderTest
from tests.contract.studies import MODES, study, submitted

VERSION = "1"
SELECTION = {
    "components": 2, "family": "normal", "bic": 10.5, "density_modes": 2, "bic_gap": 30.0, "dip_p": 0.001
}  # fmt: skip


def leased(store: StoreUnderTest, **options: float) -> Batch:
    batch = store.analyses.lease(VERSION, limit=int(options.get("limit", 50)), lease_s=options.get("lease_s", 300.0))
    assert batch is not None
    return batch


def results(batch: Batch, *, verdict: str = "multimodal") -> list[Result]:
    return [
        Result(analysis_id=one.id, digest=one.digest, selection=SELECTION, verdict=verdict, sentence=f"{one.mode}: two",
               median=500.0, variation=0.25, family_bics={"normal": 10.5, "gamma": 12.0})
        for one in batch.analyses
    ]  # fmt: skip


def analyse_all(store: StoreUnderTest) -> list[int]:
    """Analyse everything that is due; the analyses' ids."""
    batch = leased(store)
    assert store.analyses.store(batch, results(batch)) == len(batch.analyses)
    return [one.id for one in batch.analyses]


def judgements(ids: list[int]) -> list[Judgement]:
    return [Judgement(analysis_id=one, dip_q=0.02, verdict="unimodal", sentence="one after all") for one in ids]


def test_without_a_complete_sample_there_is_nothing_to_analyse(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study(replicates=2))
    agent.measure(agent.take(), only=1)
    assert not store.control.analysis_due()
    assert store.analyses.lease(VERSION) is None


def test_a_complete_setting_opens_one_analysis_a_mode(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=2, replicates=3))
    job = agent.take()
    agent.measure(job)
    assert store.control.analysis_due()
    batch = leased(store)
    assert batch.version == VERSION
    assert {(one.campaign_id, one.setting_id, one.mode) for one in batch.analyses} == {
        (campaign_id, job.setting_id, mode) for mode in MODES
    }
    samples = {one.mode: one.sample for one in batch.analyses}
    assert samples == {MODES[0]: (0.0, 1000.0, 2000.0), MODES[1]: (1.0, 1001.0, 2001.0)}
    assert all(one.options == {"min_n": 1} for one in batch.analyses)


def test_only_runs_that_count_are_in_a_sample(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study(replicates=2))
    job = agent.take()
    agent.record(agent.run(job, valid=False))
    agent.measure(job)
    agent.measure(job)
    assert [one.sample for one in leased(store).analyses] == [(0.0, 1000.0), (1.0, 1001.0)]


def test_a_late_duplicate_opens_no_second_analysis(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study())
    job = agent.take()
    agent.measure(job)
    analyse_all(store)
    agent.measure(job)
    assert store.analyses.lease(VERSION) is None


def test_analyses_are_leased_in_batches_and_each_to_one_worker(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study(settings=3))
    agent.work_off()
    first, second = leased(store, limit=4), leased(store, limit=4)
    assert (len(first.analyses), len(second.analyses)) == (4, 2)
    assert len({one.id for batch in (first, second) for one in batch.analyses}) == 6
    assert first.token != second.token
    assert store.analyses.lease(VERSION) is None
    assert not store.control.analysis_due()


def test_what_a_worker_did_not_bring_back_in_time_is_leased_again(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study())
    agent.work_off()
    late = leased(store, lease_s=0)
    assert store.control.analysis_due()
    again = leased(store)
    assert {one.id for one in again.analyses} == {one.id for one in late.analyses}
    assert store.analyses.store(late, results(late)) == 0
    assert store.analyses.store(again, results(again)) == 2


def test_a_worker_that_is_alive_keeps_its_batch(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study())
    agent.work_off()
    batch = leased(store, lease_s=0)
    assert store.analyses.renew(batch) == 2
    assert not store.control.analysis_due()
    assert store.analyses.store(batch, results(batch)) == 2


def test_a_batch_that_another_worker_took_is_not_renewed(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study())
    agent.work_off()
    late = leased(store, lease_s=0)
    leased(store)
    assert store.analyses.renew(late) == 0


def test_a_result_for_another_sample_is_not_kept(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    agent.work_off()
    batch = leased(store)
    stale = [Result(analysis_id=r.analysis_id, digest="of another sample", selection=r.selection,
                    verdict=r.verdict, sentence=r.sentence) for r in results(batch)]  # fmt: skip
    assert store.analyses.store(batch, stale) == 0
    assert store.campaigns.progress(campaign_id).analyses_done == 0


def test_a_result_is_kept_once(store: StoreUnderTest) -> None:
    agent = Agent(store)
    submitted(store, study())
    agent.work_off()
    batch = leased(store)
    assert store.analyses.store(batch, results(batch)) == 2
    assert store.analyses.store(batch, results(batch, verdict="unimodal")) == 0


def test_results_show_at_the_configuration(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    agent.work_off()
    analyse_all(store)
    first, second = store.campaigns.configurations(campaign_id, verdict="multimodal")
    assert (first.verdict, first.sentence, first.final) == ("multimodal", f"{MODES[0]}: two", False)
    assert (first.components, first.family, first.bic, first.density_modes) == (2, "normal", 10.5, 2)
    assert (first.bic_gap, first.dip_p, first.dip_q, first.error) == (30.0, 0.001, None, None)
    assert (first.median, first.variation) == (500.0, 0.25)
    assert second.mode == MODES[1]
    assert store.campaigns.configurations(campaign_id, verdict="unimodal") == []


def test_a_configuration_without_a_fit_says_why(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    agent.work_off()
    batch = leased(store)
    store.analyses.store(batch, [
        Result(analysis_id=one.id, digest=one.digest, selection=None, verdict=None, sentence=None, error="one value")
        for one in batch.analyses
    ])  # fmt: skip
    shown = store.campaigns.configurations(campaign_id)[0]
    assert (shown.verdict, shown.components, shown.error) == (None, None, "one value")
    assert store.campaigns.progress(campaign_id).analyses_done == 2
    assert store.analyses.judge(campaign_id, VERSION, []), "what has no fit waits for no judgement"
    assert store.campaigns.progress(campaign_id).verdicts_final


def test_a_campaign_is_judged_when_it_has_ended_and_all_is_analysed(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=2))
    agent.work()
    analyse_all(store)
    assert store.analyses.unjudged(VERSION) == []
    agent.work_off()
    assert store.analyses.unjudged(VERSION) == []
    analyse_all(store)
    assert store.analyses.unjudged(VERSION) == [campaign_id]
    assert store.control.analysis_due()


def test_judging_makes_verdicts_final(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    agent.work_off()
    ids = analyse_all(store)
    assert not store.campaigns.progress(campaign_id).verdicts_final
    assert store.analyses.judge(campaign_id, VERSION, judgements(ids))
    progress = store.campaigns.progress(campaign_id)
    assert (progress.verdicts, progress.verdicts_final) == ({"unimodal": 2}, True)
    assert (progress.analyses_done, progress.analyses_total) == (2, 2)
    first = store.campaigns.configurations(campaign_id)[0]
    assert (first.verdict, first.sentence, first.dip_q, first.final) == ("unimodal", "one after all", 0.02, True)
    assert store.analyses.unjudged(VERSION) == []
    assert not store.control.analysis_due()


def test_nothing_is_final_while_an_analysis_is_open(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=2))
    agent.work()
    ids = analyse_all(store)
    agent.work_off()
    assert not store.analyses.judge(campaign_id, VERSION, judgements(ids))
    assert not any(one.final for one in store.campaigns.configurations(campaign_id))


def test_a_confirming_verdict_is_kept_and_shown_with_its_configuration(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study())
    agent.work_off()
    ids = analyse_all(store)
    store.control.reconcile()
    pooled = {"n": 300, "family": "normal", "components": 2, "positions": (1.0, 2.0), "shares": (0.4, 0.6)}
    kept = {"outcome": "confirmed", "sentence": "again", "n_first": 150, "n_again": 150, "dip_q": 0.01,
            "power": None, "pooled": pooled}  # fmt: skip
    first, *others = judgements(ids)
    store.analyses.judge(campaign_id, VERSION, [replace(first, confirmation=kept), *others])
    shown, *rest = store.campaigns.configurations(campaign_id)
    assert shown.confirmation == Confirmation.from_dict(kept)
    assert shown.confirmation is not None
    assert shown.confirmation.outcome is Outcome.CONFIRMED
    assert shown.confirmation.pooled == Pooled(**pooled)
    assert {one.confirmation for one in rest} == {None}


def test_a_cancelled_campaign_is_judged_by_what_it_has(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(settings=2))
    agent.work()
    ids = analyse_all(store)
    store.campaigns.cancel(campaign_id)
    assert store.analyses.unjudged(VERSION) == [campaign_id]
    assert store.analyses.judge(campaign_id, VERSION, judgements(ids))
    assert store.campaigns.progress(campaign_id).verdicts_final


def test_where_nothing_was_measured_there_is_nothing_left_to_judge(store: StoreUnderTest) -> None:
    campaign_id = submitted(store, study())
    store.campaigns.cancel(campaign_id)
    progress = store.campaigns.progress(campaign_id)
    assert (progress.verdicts, progress.verdicts_final, progress.analyses_total) == ({}, True, 0)
    assert store.analyses.unjudged(VERSION) == []


def test_fitted_configurations_come_with_sample_and_selection(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, study(replicates=2))
    job = agent.take()
    agent.measure(job)
    agent.finish(job, Ending.COMPLETE)
    assert list(store.analyses.fitted(campaign_id)) == []
    ids = analyse_all(store)
    first, second = store.analyses.fitted(campaign_id, verdict="multimodal")
    assert (first.id, first.setting_id, first.mode) == (ids[0], job.setting_id, MODES[0])
    assert (first.sample, second.sample) == ((0.0, 1000.0), (1.0, 1001.0))
    assert first.selection == SELECTION
    assert list(store.analyses.fitted(campaign_id, verdict="unimodal")) == []
    assert {one.selection for one in store.analyses.fitted(campaign_id, whole=False)} == {None}


def warming_up(discard: int) -> Submission:
    return replace(study(replicates=6, per_job=3), analysis_options={"min_n": 1, "discard": discard})


def test_the_first_runs_of_every_job_are_set_aside_as_warm_up(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, warming_up(1))
    agent.work_off()
    batch = leased(store)
    assert next((one.sample, one.runs) for one in batch.analyses) == ((1000.0, 2000.0, 4000.0, 5000.0), 6)
    jobs = [job.id for job in store.jobs.of_campaign(campaign_id)]
    assert batch.analyses[0].jobs == (jobs[0], jobs[0], jobs[1], jobs[1])
    store.analyses.store(batch, results(batch))
    first, *_ = store.analyses.fitted(campaign_id)
    assert first.sample == (1000.0, 2000.0, 4000.0, 5000.0)
    page = store.campaigns.configuration(campaign_id, batch.analyses[0].setting_id, MODES[0])
    assert {run.replicate for run in page.runs if run.warm_up} == {0, 3}
    assert {run.value for run in page.runs if run.counts} == {1000.0, 2000.0, 4000.0, 5000.0}
    marked = {row.replicate for row in store.campaigns.export(campaign_id) if row.reason == WARM_UP}
    assert marked == {0, 3}
    assert store.campaigns.configurations(campaign_id)[0].valid_runs == 6


def test_warm_up_is_what_was_run_first_of_those_that_count(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, warming_up(1))
    job = agent.take()
    failed = agent.run(job, job.pending[0], valid=False)
    late = replace(agent.run(job, job.pending[0]), started_at=job.database_time + 9)
    agent.record(failed, *(agent.run(job, pending) for pending in job.pending[1:]), late)
    agent.finish(job)
    page = store.campaigns.configuration(campaign_id, job.setting_id, MODES[0])
    assert [run.warm_up for run in page.runs if run.replicate == job.pending[0].replicate] == [False, False]
    assert sum(run.warm_up for run in page.runs) == 1


def test_without_warm_up_every_valid_run_counts(store: StoreUnderTest) -> None:
    agent = Agent(store)
    campaign_id = submitted(store, warming_up(0))
    agent.work_off()
    assert {len(one.sample) for one in leased(store).analyses} == {6}
    assert {row.reason for row in store.campaigns.export(campaign_id)} == {None}
