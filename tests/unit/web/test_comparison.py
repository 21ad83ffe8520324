"""The page that puts a campaign beside another."""

from __future__ import annotations

import httpx
import pytest

from orchestrator.campaigns import repetition
from orchestrator.store.memory import MemoryStore
from orchestrator.web.content import comparison
from tests.unit.measured import Laboratory


@pytest.fixture
def rerun(store: MemoryStore) -> tuple[int, int]:
    """A campaign and its re-run, both measured and judged."""
    laboratory = Laboratory(store)
    first = laboratory.submit()
    laboratory.work_off()
    found = store.campaigns.configurations(first.id)
    picked = {(one.setting_id, one.mode) for one in found if one.verdict == "multimodal"}
    chosen = repetition.picked(picked, first.id, found)
    child, _ = repetition.submit(store, first.id, chosen, key="again and again")
    laboratory.work_off()
    return first.id, child.id


def test_a_rerun_is_compared_with_what_it_measures_again(browser: httpx.Client, rerun: tuple[int, int]) -> None:
    first, child = rerun
    text = browser.get(f"/campaigns/{child}/compare").text
    assert f"A is campaign {first}, B is campaign {child}" in text
    assert "configurations that both have" in text
    assert '<span class="tag multimodal">multimodal</span>' in text


def test_what_moved_is_drawn(store: MemoryStore, rerun: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "FDR", 1.0)
    content = comparison.gather(store, rerun[1], rerun[0])
    assert content.picture is not None
    assert content.picture.count("<circle") == len(content.rows) == content.changed > 0


def test_there_may_be_nothing_to_compare_with(browser: httpx.Client, store: MemoryStore) -> None:
    campaign = Laboratory(store).submit()
    assert "Nothing to compare with" in browser.get(f"/campaigns/{campaign.id}/compare").text
    assert "has no analysed configuration yet" in browser.get(
        f"/campaigns/{campaign.id}/compare", params={"with": campaign.id}
    ).text.replace("&#39;", "'")


def test_a_large_study_is_left_to_the_command(
    browser: httpx.Client, rerun: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "MOST", 1)
    text = browser.get(f"/campaigns/{rerun[1]}/compare").text
    assert f"<code>modescope compare {rerun[0]} {rerun[1]} --out changes.csv</code>" in text


def test_what_changed_comes_in_pages_and_is_worked_out_once(
    store: MemoryStore, rerun: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "FDR", 1.0)
    monkeypatch.setattr(comparison, "ROWS", 1)
    first, beyond = (comparison.gather(store, rerun[1], rerun[0], number) for number in (1, 99))
    assert first.compared is beyond.compared
    assert first.pages == first.changed == beyond.number
    assert len(first.rows) == 1


@pytest.mark.parametrize("other", ["0", "none", "99999999999"])
def test_what_is_no_campaign_is_refused(browser: httpx.Client, rerun: tuple[int, int], other: str) -> None:
    assert browser.get(f"/campaigns/{rerun[1]}/compare", params={"with": other}).status_code in (404, 422)


def test_what_was_measured_too_few_times_is_said(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    laboratory = Laboratory(store)
    campaign = laboratory.submit()
    laboratory.work_off()
    monkeypatch.setattr("analysis.comparison.FEWEST", 10_000)
    content = comparison.gather(store, campaign.id, campaign.id)
    assert content.problem == "no configuration has 10000 runs on both sides: with fewer, nothing can be compared"


def test_medians_that_did_not_move_are_drawn(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    laboratory = Laboratory(store)
    campaign = laboratory.submit()
    laboratory.work_off()
    monkeypatch.setattr(comparison, "FDR", 1.0)
    monkeypatch.setattr(comparison, "_shares", lambda _pair: (0.0, 0.0, 0.0))
    content = comparison.gather(store, campaign.id, campaign.id)
    assert content.picture is not None
    assert "0 %" in content.picture
