"""Writing a study, checking it, submitting it."""

from __future__ import annotations

import re

import httpx
import pytest

from orchestrator.design.study import preset_names, preset_text
from orchestrator.store.memory import MemoryStore
from tests.unit.measured import STUDY, Laboratory
from tests.unit.web.forms import HIDDEN, sent


@pytest.mark.parametrize("preset", preset_names())
def test_a_preset_fills_the_form_and_is_already_checked(browser: httpx.Client, preset: str) -> None:
    page = browser.get(f"/studies/new?preset={preset}").text
    assert f"name: {preset}" in page
    assert "can be submitted" in page
    assert '<svg viewBox="0 0' in page


def test_counts_and_duration_are_shown_before_anything_is_stored(browser: httpx.Client, store: MemoryStore) -> None:
    page = sent_text(browser, "/studies/check", preset_text("demo"))
    assert re.search(r"<dt>Settings</dt><dd>12<", page)
    assert re.search(r"<dt>Configurations</dt><dd>72<", page)
    assert re.search(r"<dt>Runs</dt><dd>1,800<", page)
    assert "Duration, about" in page
    assert store.campaigns.all() == []


def test_problems_are_told_with_their_lines(browser: httpx.Client) -> None:
    page = sent_text(browser, "/studies/check", STUDY.replace("replicates: 60", "replicates: many"))
    assert 'data-line="7"' in page
    assert "line 7" in page
    assert "can be submitted" not in page


def test_a_study_with_a_problem_is_not_submitted_and_nothing_is_lost(browser: httpx.Client, store: MemoryStore) -> None:
    answer = sent(browser, "/studies/new", "/studies", study="name: <half> a study\n")
    assert answer.status_code == 422
    assert "&lt;half&gt; a study" in answer.text
    assert "design: is missing" in answer.text
    assert store.campaigns.all() == []


def test_a_study_sent_twice_from_one_page_is_one_campaign(browser: httpx.Client, store: MemoryStore) -> None:
    first = sent(browser, "/studies/new", "/studies", study=STUDY, key="a page")
    again = sent(browser, "/studies/new", "/studies", study=STUDY, key="a page")
    edited = sent(browser, "/studies/new", "/studies", study=STUDY.replace("60", "61"), key="a page")
    assert first.headers["location"] == again.headers["location"] != edited.headers["location"]
    assert len(store.campaigns.all()) == 2


def test_an_uploaded_file_goes_before_the_text(browser: httpx.Client, store: MemoryStore) -> None:
    token = re.search(r'name="form_token" value="([^"]+)"', browser.get("/studies/new").text)
    assert token is not None
    data = {"form_token": token[1], "key": "k", "study": "name: other"}
    answer = browser.post("/studies", data=data, files={"file": ("study.yaml", STUDY.encode())})
    assert answer.status_code == 303
    assert store.campaigns.all()[0].name == "two settings"
    wrong = browser.post("/studies", data=data, files={"file": ("study.yaml", b"\xff\xfe\x00")})
    assert wrong.status_code == 422
    assert "not a text file" in wrong.text


def test_an_engine_that_no_node_has_is_told_beside_the_text(browser: httpx.Client, store: MemoryStore) -> None:
    Laboratory(store, engines=("replay",))
    assert "No node that is known has the engine" in sent_text(browser, "/studies/check", STUDY)
    refused = sent(browser, "/studies/new", "/studies", study=STUDY)
    assert refused.status_code == 422
    assert "no node has &#39;builtin&#39;" in refused.text


def test_a_design_too_large_to_count_while_typing_says_so(browser: httpx.Client) -> None:
    levels = f"threads: {list(range(1, 901))}, file_size_kb: {[4 * n for n in range(1, 101)]}, record_size_kb: [4]"
    text = f"name: large\ndesign: {{blocks: [{{levels: {{{levels}}}}}]}}\nreplicates: 5\nengine: builtin\n"
    assert "540,000 configurations: too many" in sent_text(browser, "/studies/check", text)


def test_the_study_of_a_campaign_may_be_taken_up_again(browser: httpx.Client, store: MemoryStore) -> None:
    campaign = Laboratory(store).submit()
    page = browser.get(f"/studies/new?campaign={campaign.id}").text
    assert "name: two settings" in page
    assert "can be submitted" in page
    assert browser.get("/studies/new?preset=nothing").status_code == 422


@pytest.mark.parametrize("text", ["a: &a [1]\nb: *a", "[" * 5000, "name: \x00", "a" * 300_000, "- " * 2000])
def test_hostile_text_is_a_problem_and_not_an_accident(browser: httpx.Client, text: str) -> None:
    page = browser.get("/studies/new").text
    hidden = dict(HIDDEN.findall(page))
    answer = browser.post("/studies/check", data={**hidden, "study": text})
    assert answer.status_code in {200, 422}
    assert "can be submitted" not in answer.text


def sent_text(browser: httpx.Client, action: str, text: str) -> str:
    """The page after `text` was sent; the form's second button names `action` as its own."""
    page = browser.get("/studies/new").text
    hidden = dict(HIDDEN.findall(page))
    answer = browser.post(action, data={**hidden, "study": text})
    assert answer.status_code == 200
    return answer.text
