"""One campaign: what is shown of it, and what may be done to it."""

from __future__ import annotations

import re

import httpx
import pytest

from orchestrator.contracts.access import Deed, Scope, digest
from orchestrator.contracts.campaigns import State
from orchestrator.store.memory import MemoryStore
from tests.unit.measured import NODE, Laboratory
from tests.unit.web.forms import sent


@pytest.fixture
def laboratory(store: MemoryStore) -> Laboratory:
    return Laboratory(store)


def test_a_finished_campaign_shows_what_came_of_it(browser: httpx.Client, laboratory: Laboratory) -> None:
    campaign = laboratory.submit()
    laboratory.fail_once()
    laboratory.work_off()
    page = browser.get(f"/campaigns/{campaign.id}").text
    assert "180 of 180 runs" in page
    assert "the benchmark ended with status 1" in page
    assert f'href="/nodes/{NODE}"' in page
    assert f"campaign {campaign.id} ended complete" in page
    assert "Time left" not in page
    for address in (f"/campaigns/{campaign.id}/atlas", f"/api/v1/campaigns/{campaign.id}/export"):
        assert f'href="{address}"' in page


def test_a_running_campaign_shows_time_left_and_what_is_next(browser: httpx.Client, laboratory: Laboratory) -> None:
    campaign = laboratory.submit()
    laboratory.fail_once()
    page = browser.get(f"/campaigns/{campaign.id}").text
    assert "not known yet" in page
    assert "180 runs are still to come" in page
    assert "Why not running?" in page


def test_a_job_that_does_not_run_says_why(browser: httpx.Client, laboratory: Laboratory, store: MemoryStore) -> None:
    campaign = laboratory.submit()
    job = store.jobs.of_campaign(campaign.id, limit=1)[0]
    store.nodes.drain(NODE)
    page = browser.get(f"/campaigns/{campaign.id}?job={job.id}").text
    assert f"Job {job.id}: " in page
    assert re.search(rf"{NODE} is draining: <code>modescope node reinstate {NODE}</code>", page)
    assert browser.get(f"/campaigns/{campaign.id}?job=4711").status_code == 404


def test_a_campaign_that_nobody_works_on_says_why_by_itself(browser: httpx.Client, laboratory: Laboratory) -> None:
    campaign = laboratory.submit()
    laboratory.store.nodes.goodbye(laboratory.session)
    assert "Nothing runs at the moment: " in browser.get(f"/campaigns/{campaign.id}").text


def test_pause_and_resume_are_forms(browser: httpx.Client, laboratory: Laboratory, store: MemoryStore) -> None:
    here = f"/campaigns/{laboratory.submit().id}"
    answer = sent(browser, here, f"{here}/pause")
    assert (answer.status_code, answer.headers["location"]) == (303, here)
    assert "Paused" in browser.get(here).text
    sent(browser, here, f"{here}/resume")
    assert "Paused" not in browser.get(here).text
    assert [line.what for line in store.access.audited(limit=2)] == [Deed.CAMPAIGN_RESUMED, Deed.CAMPAIGN_PAUSED]


def test_cancelling_is_asked_for_twice_and_keeps_what_is_measured(
    browser: httpx.Client, laboratory: Laboratory, store: MemoryStore
) -> None:
    campaign = laboratory.submit()
    here = f"/campaigns/{campaign.id}"
    assert "cannot be undone" in browser.get(here).text
    assert sent(browser, here, f"{here}/cancel", now="true").status_code == 303
    assert store.campaigns.get(campaign.id).state is State.CANCELLED
    assert "180 runs were given up" in browser.get(here).text
    assert f'action="{here}/cancel"' not in browser.get(here).text


def test_a_form_from_elsewhere_changes_nothing(
    browser: httpx.Client, laboratory: Laboratory, store: MemoryStore
) -> None:
    campaign = laboratory.submit()
    for verb in ("pause", "resume", "cancel", "rerun"):
        data = {"form_token": "guessed", "flag": "incomplete", "key": "k"}
        assert browser.post(f"/campaigns/{campaign.id}/{verb}", data=data).status_code == 403
    assert not store.campaigns.get(campaign.id).paused


def test_who_may_only_look_gets_no_forms_and_is_refused(
    stranger: httpx.Client, laboratory: Laboratory, store: MemoryStore
) -> None:
    store.access.issue("reader", [Scope.READ], digest("a reader"))
    stranger.post("/sign-in", data={"token": "a reader"})
    here = f"/campaigns/{laboratory.submit().id}"
    assert f'method="post" action="{here}' not in stranger.get(here).text
    assert stranger.post(f"{here}/pause").status_code == 403


def test_flagged_settings_are_measured_again_once_however_often_the_form_is_sent(
    browser: httpx.Client, laboratory: Laboratory, store: MemoryStore
) -> None:
    parent = laboratory.submit()
    laboratory.work_off()
    here = f"/campaigns/{parent.id}"
    first = sent(browser, here, f"{here}/rerun", flag="multimodal", replicates="", key="a page")
    again = sent(browser, here, f"{here}/rerun", flag="multimodal", replicates="", key="a page")
    other = sent(browser, here, f"{here}/rerun", flag="multimodal", replicates="90", key="a page")
    assert first.headers["location"] == again.headers["location"] != other.headers["location"]
    child = store.campaigns.get(int(first.headers["location"].rsplit("/", 1)[1]))
    assert (child.parent_id, child.replicates) == (parent.id, parent.replicates)
    assert child.name in browser.get(here).text


def test_lineage_shows_verdicts_of_parent_and_child(browser: httpx.Client, laboratory: Laboratory) -> None:
    parent = laboratory.submit()
    laboratory.work_off()
    child = laboratory.rerun_flagged(parent.id)
    page = browser.get(f"/campaigns/{child.id}").text
    assert "unimodal 3, multimodal 2" in page
    assert "no verdict yet" in page
    assert f'href="/campaigns/{parent.id}"' in page


def test_what_is_missing_is_told_with_its_reason(browser: httpx.Client, laboratory: Laboratory) -> None:
    campaign = laboratory.submit()
    laboratory.fail_for_good()
    page = browser.get(f"/campaigns/{campaign.id}").text
    assert "this node cannot do that" in page
    assert "those that lack valid runs" in page


def test_events_that_say_the_same_of_many_jobs_are_told_once(browser: httpx.Client, laboratory: Laboratory) -> None:
    campaign = laboratory.submit()
    laboratory.fail_for_good()
    page = browser.get(f"/campaigns/{campaign.id}").text
    assert "and 5 more like it" in page
    assert re.search(r"<td>this node cannot do that</td><td class=\"n\">6<", page)


def test_the_study_is_shown_as_submitted(browser: httpx.Client, laboratory: Laboratory) -> None:
    campaign = laboratory.submit()
    assert "replicates_per_job: 30" in browser.get(f"/campaigns/{campaign.id}/study").text


def test_a_campaign_that_is_not_there_is_not_found(browser: httpx.Client) -> None:
    answer = browser.get("/campaigns/4711")
    assert answer.status_code == 404
    assert "Nothing here" in answer.text


def test_what_if_is_answered_on_the_page(browser: httpx.Client, laboratory: Laboratory) -> None:
    campaign = laboratory.submit()
    laboratory.work()
    page = browser.get(f"/campaigns/{campaign.id}?nodes=2&replicates=90").text
    assert "Time left would be" in page
    assert "on 3 nodes" in page
    assert "would be" not in browser.get(f"/campaigns/{campaign.id}").text


def test_the_analysis_is_changed_with_a_reason_and_marked_on_every_page(
    browser: httpx.Client, laboratory: Laboratory, store: MemoryStore
) -> None:
    campaign = laboratory.submit()
    laboratory.work_off()
    here = f"/campaigns/{campaign.id}"
    assert "exploratory</a>" not in browser.get(here).text
    sent(browser, here, f"{here}/analysis", option="max_components", value="1", why="<i>one</i> is enough")
    laboratory.work_off()
    page = browser.get(here).text
    assert "version 2, exploratory: max_components 2 -&gt; 1, because: &lt;i&gt;one&lt;/i&gt; is enough" in page
    for other in (f"{here}/flagged", f"{here}/atlas"):
        assert "analysis version 2, exploratory" in browser.get(other).text
    report = browser.get(f"/api/v1{here}/report").text
    assert "Exploratory analysis" in report
    assert "max_components: 2 → 1" in report
    sent(browser, here, f"{here}/analysis/1")
    assert store.campaigns.get(campaign.id).analysis_version == 1
    assert "exploratory</a>" not in browser.get(here).text


def test_an_option_that_makes_no_sense_is_refused_in_one_line(
    browser: httpx.Client, laboratory: Laboratory, store: MemoryStore
) -> None:
    campaign = laboratory.submit()
    laboratory.work_off()
    here = f"/campaigns/{campaign.id}"
    answer = sent(browser, here, f"{here}/analysis", option="max_components", value="0", why="less is more")
    assert "max_components must be from 1 to 5" in answer.text
    assert len(store.versions.of_campaign(campaign.id)) == 1
