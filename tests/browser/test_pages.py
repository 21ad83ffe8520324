"""Every page: no serious barrier in light and dark, nothing that sticks out of a telephone, a picture of each."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Enter, Measured

PAGES = {
    "campaigns": "/",
    "new-study": "/studies/new?preset=demo",
    "study": "{campaign}/study",
    "campaign": "{campaign}",
    "atlas": "{campaign}/atlas",
    "flagged": "{campaign}/flagged?verdict=any",
    "configuration": "{configuration}",
    "nodes": "/nodes",
    "node": "/nodes/local-1",
    "access": "/access",
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_serious_barrier(enter: Enter, measured: Measured, name: str, scheme: str) -> None:
    visitor = enter(scheme=scheme)
    visitor.go(PAGES[name].format(campaign=measured.path, configuration=measured.configuration))
    visitor.picture(f"{name}-{scheme}")
    assert visitor.barriers() == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_a_telephone(enter: Enter, measured: Measured, name: str) -> None:
    """400 pixels wide is also what a desk of 800 shows at 200 %."""
    visitor = enter(width=400)
    visitor.go(PAGES[name].format(campaign=measured.path, configuration=measured.configuration))
    visitor.picture(f"{name}-400")
    assert visitor.overflow() == []
    assert visitor.barriers() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_sign_in_page_has_no_serious_barrier(strange: Enter, scheme: str) -> None:
    visitor = strange(scheme=scheme)
    visitor.go("/sign-in")
    visitor.picture(f"sign-in-{scheme}")
    assert visitor.barriers() == []
    assert visitor.overflow() == []


def test_a_wrong_token_is_told_beside_its_field(strange: Enter) -> None:
    visitor = strange()
    visitor.expected_status = 403
    visitor.go("/sign-in")
    visitor.page.get_by_label("Token").fill("mistyped")
    visitor.page.get_by_role("button", name="Sign in").click()
    expect(visitor.page.get_by_role("alert")).to_contain_text("This token opens nothing here")
    visitor.picture("sign-in-wrong")
    assert visitor.barriers() == []


def test_a_page_that_is_not_there_says_so(enter: Enter) -> None:
    visitor = enter()
    visitor.expected_status = 404
    visitor.go("/campaigns/99999")
    expect(visitor.page.get_by_role("heading", level=1)).to_be_visible()
    visitor.picture("error")
    assert visitor.barriers() == []
