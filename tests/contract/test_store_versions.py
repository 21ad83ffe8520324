"""A campaign's analysis has versions: what was submitted, and what was changed afterwards, and why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.contracts.access import Act, Deed
from orchestrator.contracts.analyses import OptionChange, options_digest
from orchestrator.contracts.errors import ConflictError, NotFoundError
from tests.contract.agents import Agent
from tests.contract.stores import StoreUnderTest
from tests.contract.studies import study, submitted
from tests.contract.test_store_analyses import VERSION, analyse_all, judgements, leased, results

SUBMITTED = {"min_n": 1}
OTHER = {"min_n": 2}


def judged(store: StoreUnderTest) -> int:
    campaign_id = submitted(store, study())
    Agent(store).work_off()
    assert store.analyses.judge(campaign_id, VERSION, judgements(analyse_all(store)))
    return campaign_id


def test_what_was_submitted_is_hashed_as_version_one(store: StoreUnderTest) -> None:
    campaign_id = submitted(store, study())
    (first,) = store.versions.of_campaign(campaign_id)
    assert (first.number, first.exploratory, first.shown, first.why) == (1, False, True, "")
    assert (first.options, first.digest, first.changed) == (SUBMITTED, options_digest(SUBMITTED), {})
    assert store.campaigns.get(campaign_id).analysis_version == 1


def test_a_change_is_a_version_of_its_own_that_is_marked_exploratory(store: StoreUnderTest) -> None:
    campaign_id = judged(store)
    made = store.versions.make(campaign_id, OTHER, "one run is too few")
    assert (made.number, made.exploratory, made.shown, made.why) == (2, True, True, "one run is too few")
    assert made.changed == {"min_n": OptionChange(submitted=1, here=2)}
    assert [one.shown for one in store.versions.of_campaign(campaign_id)] == [False, True]
    assert store.campaigns.get(campaign_id).analysis_version == 2
    assert store.campaigns.study(campaign_id).analysis_options == OTHER


def test_its_samples_are_fitted_and_judged_anew(store: StoreUnderTest) -> None:
    campaign_id = judged(store)
    before = store.campaigns.version(campaign_id)
    store.versions.make(campaign_id, OTHER, "why not")
    assert store.campaigns.version(campaign_id) != before
    assert {one.verdict for one in store.campaigns.configurations(campaign_id)} == {None}
    assert not store.campaigns.progress(campaign_id).verdicts_final
    assert store.control.analysis_due()
    batch = leased(store)
    assert [one.options for one in batch.analyses] == [OTHER, OTHER]
    store.analyses.store(batch, results(batch))
    assert store.analyses.unjudged(VERSION) == [campaign_id]


def test_fits_of_an_earlier_version_are_back_when_it_is_shown_again(store: StoreUnderTest) -> None:
    campaign_id = judged(store)
    before = store.campaigns.configurations(campaign_id)
    store.versions.make(campaign_id, OTHER, "why not")
    batch = leased(store)
    store.analyses.store(batch, [replace(one, verdict="unimodal") for one in results(batch)])
    assert store.versions.show(campaign_id, 1).shown
    assert store.campaigns.configurations(campaign_id) == before
    assert store.campaigns.progress(campaign_id).verdicts_final
    assert store.campaigns.study(campaign_id).analysis_options == SUBMITTED
    store.versions.show(campaign_id, 2)
    assert {one.verdict for one in store.campaigns.configurations(campaign_id)} == {"unimodal"}
    assert not store.control.analysis_due() or store.analyses.lease(VERSION) is None


def test_what_was_fitted_for_a_version_that_nobody_sees_any_more_is_not_kept(store: StoreUnderTest) -> None:
    campaign_id = judged(store)
    store.versions.make(campaign_id, OTHER, "why not")
    batch = leased(store)
    store.versions.show(campaign_id, 1)
    assert store.analyses.store(batch, results(batch)) == 0


def test_options_that_a_version_has_are_no_new_one(store: StoreUnderTest) -> None:
    campaign_id = judged(store)
    with pytest.raises(ConflictError, match="version 1 of its analysis has exactly these options"):
        store.versions.make(campaign_id, dict(SUBMITTED), "again")


def test_the_analysis_of_a_campaign_that_runs_is_not_changed(store: StoreUnderTest) -> None:
    campaign_id = submitted(store, study())
    with pytest.raises(ConflictError, match="still running"):
        store.versions.make(campaign_id, OTHER, "too early")


def test_what_is_not_there_is_not_shown(store: StoreUnderTest) -> None:
    campaign_id = judged(store)
    with pytest.raises(NotFoundError, match="no version 2"):
        store.versions.show(campaign_id, 2)
    with pytest.raises(NotFoundError):
        store.versions.of_campaign(99)
    with pytest.raises(NotFoundError):
        store.versions.make(99, OTHER, "why not")


def test_who_changed_it_is_in_the_audit_log(store: StoreUnderTest) -> None:
    campaign_id = judged(store)
    store.on_behalf_of(Act(who="ada", origin="here")).versions.make(campaign_id, OTHER, "why not")
    line = store.access.audited()[0]
    assert (line.who, line.what, line.subject) == ("ada", Deed.ANALYSIS_CHANGED, f"campaign {campaign_id}, version 2")
