"""The table of flagged configurations, and starting a re-run from it."""

from __future__ import annotations

import re

import httpx
import pytest

from orchestrator.contracts.access import Deed, Scope, digest
from orchestrator.contracts.campaigns import Configuration
from orchestrator.store.memory import MemoryStore
from orchestrator.web.content import flagged
from tests.unit.measured import RUN_S, Laboratory


@pytest.fixture
def campaign(store: MemoryStore) -> int:
    """A study that is measured and analysed: one flagged configuration, and a flagged control."""
    laboratory = Laboratory(store)
    campaign_id = laboratory.submit().id
    laboratory.work_off()
    return campaign_id


def all_of(store: MemoryStore, campaign: int) -> list[Configuration]:
    return [one for one in store.campaigns.configurations(campaign) if one.control is None]


def token(page: str) -> str:
    found = re.search(r'name="form_token" value="([^"]+)"', page)
    assert found is not None
    return found[1]


def rows(page: str) -> list[str]:
    return re.findall(r'name="pick" value="([^"]+)"', page)


def test_what_is_flagged_is_shown_first(browser: httpx.Client, store: MemoryStore, campaign: int) -> None:
    page = browser.get(f"/campaigns/{campaign}/flagged").text
    wanted = store.campaigns.configurations(campaign, verdict="multimodal")
    assert sorted(rows(page)) == sorted(f"{one.setting_id}:{one.mode}" for one in wanted)
    assert "synthetic control" in page


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("verdict=any", 5),
        ("verdict=any&mode=readers", 2),
        ("verdict=any&level.file_size_kb=64", 2),
        ("verdict=any&text=readers+1024", 1),
        ("verdict=incomplete", 0),
        ("text=no+such+word", 0),
    ],
)
def test_filters_say_which_are_shown(browser: httpx.Client, campaign: int, query: str, count: int) -> None:
    page = browser.get(f"/campaigns/{campaign}/flagged?{query}").text
    assert len(rows(page)) == count
    assert ("None of them" in page) == (count == 0)


def test_columns_sort_both_ways_and_the_unknown_comes_last(store: MemoryStore, campaign: int) -> None:
    def medians(rising: str) -> list[float | None]:
        wanted = flagged.read({"verdict": "any", "sort": "median", "rising": rising})
        return [row.found.median for row in flagged.gather(store, campaign, wanted).rows]

    found = [median for median in medians("1") if median is not None]
    assert found == sorted(found)
    assert medians("0") == found[::-1]
    by_factor = flagged.read({"verdict": "any", "sort": "level.file_size_kb", "rising": "1"})
    assert [row.found.levels[:1] for row in flagged.gather(store, campaign, by_factor).rows] == [
        (64,), (64,), (1024,), (1024,), ()
    ]  # fmt: skip
    gaps = [
        row.found.bic_gap
        for row in flagged.gather(store, campaign, flagged.read({"verdict": "any", "sort": "bic_gap"})).rows
    ]
    assert gaps == sorted(gaps, key=lambda gap: (gap is None, -(gap or 0)))


@pytest.mark.parametrize("query", ["sort=levels", "page=x", "page=0", "text=%00", "level.x=" + 300 * "a"])
def test_a_filter_that_no_page_of_ours_made_is_refused(browser: httpx.Client, campaign: int, query: str) -> None:
    assert 400 <= browser.get(f"/campaigns/{campaign}/flagged?{query}").status_code < 500


def test_a_setting_is_counted_once_however_many_of_its_modes_are_picked(
    browser: httpx.Client, store: MemoryStore, campaign: int
) -> None:
    first, second, *_ = all_of(store, campaign)
    assert first.setting_id == second.setting_id
    cost = flagged.cost(
        store, store.campaigns.get(campaign), {(one.setting_id, one.mode) for one in (first, second)}, None
    )
    assert (cost.picked, len(cost.settings), cost.configurations, cost.runs) == (2, 1, 2, 60)
    assert cost.benchmark_s == pytest.approx(60 * RUN_S)
    pages = browser.get(f"/campaigns/{campaign}/flagged?verdict=any").text
    answer = browser.post(
        f"/campaigns/{campaign}/flagged/cost",
        data={
            "form_token": token(pages),
            "verdict": "any",
            "pick": [f"{one.setting_id}:{one.mode}" for one in (first, second)],
        },
    )
    assert "15 s" in answer.text
    assert f'name="settings" value="{first.setting_id}"' in answer.text


def test_starting_makes_one_child_campaign_and_leaves_an_audit_line(
    browser: httpx.Client, store: MemoryStore, campaign: int
) -> None:
    first, *_ = all_of(store, campaign)
    form = {"form_token": token(browser.get(f"/campaigns/{campaign}/flagged").text), "key": "once and only once",
            "settings": str(first.setting_id), "replicates": "10"}  # fmt: skip
    answers = [browser.post(f"/campaigns/{campaign}/flagged/rerun", data=form) for _ in range(2)]
    child = store.campaigns.all()[0]
    assert {answer.headers["location"] for answer in answers} == {f"/campaigns/{child.id}"}
    assert (child.parent_id, child.settings, child.replicates, child.configurations) == (campaign, 1, 10, 2)
    assert [line.what for line in store.access.audited()].count(Deed.CAMPAIGN_SUBMITTED) == 1


def test_the_page_says_what_a_flag_is_worth_by_the_controls(browser: httpx.Client, campaign: int) -> None:
    page = browser.get(f"/campaigns/{campaign}/flagged").text
    assert "1 of 1 synthetic controls with several modes are flagged" in page
    assert "its false flags cannot be counted" in page


@pytest.mark.parametrize(("by", "given"), [("power", "0.8"), ("target", "0.05"), ("hours", "10")])
def test_the_size_of_a_re_run_is_chosen_on_the_page(
    browser: httpx.Client, store: MemoryStore, campaign: int, by: str, given: str
) -> None:
    flagged = next(one for one in all_of(store, campaign) if one.verdict == "multimodal" and one.control is None)
    form = {"form_token": token(browser.get(f"/campaigns/{campaign}/flagged").text), "key": f"sized by {by}",
            "settings": str(flagged.setting_id), "replicates": "10", "by": by, by: given}  # fmt: skip
    answer = browser.post(f"/campaigns/{campaign}/flagged/rerun", data=form)
    assert answer.status_code == 303
    assert 30 <= store.campaigns.all()[0].replicates <= 900
    empty = browser.post(f"/campaigns/{campaign}/flagged/rerun", data={**form, "key": "another key", by: ""})
    assert empty.status_code == 422


def test_all_that_pass_the_filter_can_be_priced_together(browser: httpx.Client, campaign: int) -> None:
    form = {"form_token": token(browser.get(f"/campaigns/{campaign}/flagged").text), "verdict": "any",
            "mode": "readers", "everything": "true"}  # fmt: skip
    page = browser.post(f"/campaigns/{campaign}/flagged/cost", data=form).text
    assert "120" in page
    assert re.search(r'name="settings" value="\d+ \d+"', page)


def test_nothing_picked_is_told_and_starts_nothing(browser: httpx.Client, store: MemoryStore, campaign: int) -> None:
    form = {"form_token": token(browser.get(f"/campaigns/{campaign}/flagged").text)}
    assert "Nothing was picked" in browser.post(f"/campaigns/{campaign}/flagged/cost", data=form).text
    assert browser.post(f"/campaigns/{campaign}/flagged/rerun", data={**form, "key": "12345678"}).status_code == 422
    assert len(store.campaigns.all()) == 1


@pytest.mark.parametrize("settings", ["99999", "1;2", "'; DROP TABLE runs", "1 " * 5000 + "x"])
def test_settings_that_are_not_the_campaigns_start_nothing(
    browser: httpx.Client, store: MemoryStore, campaign: int, settings: str
) -> None:
    form = {"form_token": token(browser.get(f"/campaigns/{campaign}/flagged").text), "key": "12345678",
            "settings": settings}  # fmt: skip
    answer = browser.post(f"/campaigns/{campaign}/flagged/rerun", data=form)
    assert answer.status_code in (404, 422)
    assert len(store.campaigns.all()) == 1


def test_who_may_only_read_sees_the_table_and_cannot_pick(
    stranger: httpx.Client, store: MemoryStore, campaign: int
) -> None:
    store.access.issue("reader", [Scope.READ], digest("a reader's token"))
    stranger.post("/sign-in", data={"token": "a reader's token"})
    page = stranger.get(f"/campaigns/{campaign}/flagged").text
    assert "Measure the picked" not in page
    answer = stranger.post(f"/campaigns/{campaign}/flagged/rerun", data={"form_token": token(page)})
    assert answer.status_code == 403


def test_the_api_re_runs_picked_configurations_too(browser: httpx.Client, store: MemoryStore, campaign: int) -> None:
    first, second, third, *_ = all_of(store, campaign)
    body = {"configurations": [{"setting_id": one.setting_id, "mode": one.mode} for one in (first, second, third)]}
    page = browser.get("/").text
    headers = {"X-Form-Token": re.findall(r'data-form-token="([^"]+)"', page)[0]}
    answer = browser.post(f"/api/v1/campaigns/{campaign}/rerun", json=body, headers=headers)
    assert (answer.status_code, answer.json()["settings"]) == (201, 2)
    neither = browser.post(f"/api/v1/campaigns/{campaign}/rerun", json={}, headers=headers)
    assert neither.status_code == 422
