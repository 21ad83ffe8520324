"""The list of campaigns."""

from __future__ import annotations

import re

import httpx

from orchestrator.contracts.access import Scope, digest
from orchestrator.store.memory import MemoryStore
from orchestrator.web.content import campaigns
from orchestrator.web.content.campaigns import ROOTS_A_PAGE
from tests.contract.studies import study
from tests.unit.measured import Laboratory
from tests.unit.web.conftest import TOKEN


def test_who_has_no_campaign_is_told_how_to_begin(browser: httpx.Client) -> None:
    page = browser.get("/").text
    assert "No campaign yet" in page
    assert 'href="/studies/new?preset=demo"' in page


def test_who_may_only_look_is_offered_nothing_to_begin(stranger: httpx.Client, store: MemoryStore) -> None:
    store.access.issue("reader", [Scope.READ], digest("a reader"))
    stranger.post("/sign-in", data={"token": "a reader"})
    page = stranger.get("/").text
    assert "may only look" in page
    assert "/studies/new" not in page
    assert stranger.get("/studies/new").status_code == 403


def test_a_campaign_is_listed_with_progress_and_flagged_share(browser: httpx.Client, store: MemoryStore) -> None:
    laboratory = Laboratory(store)
    laboratory.submit()
    laboratory.work_off()
    page = browser.get("/").text
    assert "180 of 180 runs" in page
    assert re.search(r'40 % <span class="soft">2 of 5', page)
    assert 'class="tag complete"' in page


def test_re_runs_stand_under_what_they_repeat(store: MemoryStore) -> None:
    first, _ = store.campaigns.submit(study())
    second, _ = store.campaigns.submit(study())
    child, _ = store.campaigns.submit(study(parent=first.id))
    grandchild, _ = store.campaigns.submit(study(parent=child.id))
    late, _ = store.campaigns.submit(study(parent=first.id))
    found = [(row.overview.campaign.id, row.depth) for row in campaigns.gather(store).rows]
    assert found == [(second.id, 0), (first.id, 0), (child.id, 1), (grandchild.id, 2), (late.id, 1)]


def test_a_long_list_comes_in_pages(browser: httpx.Client, store: MemoryStore) -> None:
    ids = [store.campaigns.submit(study())[0].id for _ in range(ROOTS_A_PAGE + 1)]
    assert f'href="/?before={ids[1]}"' in browser.get("/").text
    older = browser.get(f"/?before={ids[1]}").text
    assert re.findall(r'href="/campaigns/(\d+)"', older) == [str(ids[0])]
    assert "Older" not in older


def test_a_list_of_exactly_one_page_has_no_older_one(store: MemoryStore) -> None:
    for _ in range(ROOTS_A_PAGE):
        store.campaigns.submit(study())
    listed = campaigns.gather(store)
    assert (len(listed.rows), listed.older) == (ROOTS_A_PAGE, None)


def test_a_name_is_shown_as_text_and_never_as_markup(browser: httpx.Client, store: MemoryStore) -> None:
    laboratory = Laboratory(store)
    laboratory.submit(
        "name: <script>alert(1)</script>\ndesign: {blocks: [{levels: {threads: [1], file_size_kb: [64],"
        " record_size_kb: [16]}}]}\nreplicates: 5\nengine: builtin\n"
    )
    page = browser.get("/").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_the_page_asks_for_news_of_everything(browser: httpx.Client) -> None:
    assert 'data-live-stream="/api/v1/stream"' in browser.get("/").text
    assert TOKEN not in browser.get("/").text
