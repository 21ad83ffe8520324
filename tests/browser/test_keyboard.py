"""The main actions without a mouse: reached by Tab, seen when reached, done by Enter or Space."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.conftest import Enter, Measured


def test_the_first_tab_leads_past_the_head_of_the_page(enter: Enter) -> None:
    visitor = enter()
    visitor.go("/")
    skip = visitor.page.get_by_role("link", name="Skip to content")
    visitor.tab_to(skip, most=1)
    expect(skip).to_be_in_viewport()
    visitor.page.keyboard.press("Enter")
    assert visitor.page.url.endswith("#content")


def test_a_new_study_is_reached_checked_and_left(enter: Enter) -> None:
    visitor = enter()
    page = visitor.page
    visitor.go("/")
    visitor.tab_to(page.get_by_role("link", name="New study"))
    assert visitor.focus_shows()
    page.keyboard.press("Enter")
    text = page.get_by_label("Study (YAML)")
    visitor.tab_to(text)
    page.keyboard.type("name: typed")
    expect(page.locator("#problems .problem").first).to_be_visible()
    visitor.tab_to(page.get_by_role("button", name="Submit"), most=5)
    assert visitor.focus_shows()


def test_a_campaign_offers_its_re_run_to_the_keyboard(enter: Enter, measured: Measured) -> None:
    visitor = enter()
    page = visitor.page
    visitor.go(f"{measured.path}/flagged?verdict=any")
    box = page.get_by_role("row").filter(has_text="synthetic control").get_by_role("checkbox")
    visitor.tab_to(box)
    assert visitor.focus_shows()
    page.keyboard.press("Space")
    expect(box).to_be_checked()
    visitor.tab_to(page.get_by_role("button", name=re.compile("Measure the picked ones again")))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Measure again?")).to_be_visible()
    visitor.tab_to(page.get_by_role("button", name="Start"))
    assert visitor.focus_shows()
    assert visitor.barriers() == []


def test_the_map_is_walked_with_arrows_and_opens_a_configuration(enter: Enter, measured: Measured) -> None:
    visitor = enter()
    page = visitor.page
    visitor.go(f"{measured.path}/atlas")
    chart = page.get_by_role("application", name=re.compile("Map of the design"))
    visitor.tab_to(chart)
    assert visitor.focus_shows()
    here = page.locator("#here")
    page.keyboard.press("ArrowRight")
    expect(here).not_to_be_empty()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/configurations/"))
