"""A study from the first sign-in to the verdict of its re-run, as a person walks it, on a desk and on a telephone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser import studies
from tests.browser.conftest import Enter

LONGEST_MS = 240_000
"""For a study on a machine that has other things to do."""


@pytest.mark.parametrize(
    ("width", "name", "study"),
    [(1280, "demo", studies.demo()), (400, "small demo", studies.small())],
    ids=["desk", "telephone"],
)
def test_a_study_is_submitted_watched_explored_and_measured_again(
    enter: Enter, width: int, name: str, study: str
) -> None:
    visitor = enter(width=width)
    page = visitor.page

    visitor.go("/")
    expect(page.get_by_role("heading", name="Campaigns", exact=True)).to_be_visible()
    visitor.picture(f"arriving-{width}")
    visitor.go("/studies/new?preset=demo")
    page.get_by_label("Study (YAML)").fill(study)
    expect(page.get_by_text("This is a study that can be submitted.")).to_be_visible()
    visitor.picture(f"new-study-{width}")
    page.get_by_role("button", name="Submit").click()

    expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
    campaign = page.url.rstrip("/")
    visitor.picture(f"campaign-live-{width}")
    # It ends before our eyes: nobody loads the page again.
    page.evaluate("document.body.dataset.loaded = 'once'")
    watch_to_the_end(page)
    expect(page.get_by_label("Measured")).to_have_js_property("value", 1)
    assert page.evaluate("document.body.dataset.loaded") == "once"
    visitor.picture(f"campaign-{width}")
    assert visitor.overflow() == []

    page.get_by_role("link", name="Atlas", exact=True).click()
    visitor.settle()
    expect(page.get_by_role("application", name=re.compile("Map of the design"))).to_be_visible()
    visitor.picture(f"atlas-{width}")
    assert visitor.overflow() == []

    page.get_by_role("link", name="Flagged", exact=True).click()
    row = page.get_by_role("row").filter(has_text="synthetic control")
    row.get_by_role("link").first.click()
    expect(page.locator(".verdict .tag.multimodal")).to_be_visible()
    expect(page.locator("#histogram .main-svg").first).to_be_visible()
    visitor.picture(f"configuration-{width}")
    assert visitor.overflow() == []

    page.goto(f"{campaign}/flagged")
    page.get_by_role("row").filter(has_text="synthetic control").get_by_role("checkbox").check()
    page.get_by_role("button", name=re.compile("Measure the picked ones again")).click()
    expect(page.get_by_role("heading", name="Measure again?")).to_be_visible()
    visitor.picture(f"cost-{width}")
    page.get_by_role("button", name="Start", exact=True).click()

    watch_to_the_end(page)
    assert page.url != campaign
    page.get_by_role("link", name="Flagged", exact=True).click()
    page.get_by_label("Verdict", exact=True).select_option("any")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.get_by_role("row").filter(has_text="synthetic control").locator(".tag.multimodal")).to_be_visible()


def watch_to_the_end(page: Page) -> None:
    """Until every run is in and every configuration has its verdict."""
    expect(page.locator(".titled .tag")).to_have_text(re.compile("complete"), timeout=LONGEST_MS)
    expect(page.get_by_text(re.compile(r"^([\d,]+) of \1 configurations$"))).to_be_visible(timeout=LONGEST_MS)
