"""Tokens and the audit log."""

from __future__ import annotations

import re

import httpx
import pytest

from orchestrator.contracts.access import Act, Scope, digest
from orchestrator.store.memory import MemoryStore
from orchestrator.web.routers.access import LINES
from tests.unit.web.forms import sent


def test_a_new_token_is_shown_once(browser: httpx.Client, store: MemoryStore) -> None:
    answer = sent(browser, "/access", "/access/tokens", name="analysis group", scopes=["read", "submit"], days="30")
    secret = re.search(r'id="secret" class="secret">(ms_[\w-]+)<', answer.text)
    assert answer.status_code == 201
    assert secret is not None
    made = store.access.holder(digest(secret[1]))
    assert made is not None
    assert (made.name, made.scopes) == ("analysis group", (Scope.READ, Scope.SUBMIT))
    assert made.expires_at == pytest.approx(made.created_at + 30 * 86_400)
    assert "ms_" not in browser.get("/access").text


def test_a_token_without_an_end_is_in_force_until_it_is_revoked(browser: httpx.Client, store: MemoryStore) -> None:
    sent(browser, "/access", "/access/tokens", name="ci", scopes="submit", days="")
    token = store.access.tokens()[0]
    assert token.expires_at is None
    assert sent(browser, "/access", f"/access/tokens/{token.id}/revoke").headers["location"] == "/access"
    assert store.access.tokens()[0].revoked_at is not None
    assert "revoked" in browser.get("/access").text


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "x", "scopes": "root"},
        {"name": "\n", "scopes": "read"},
        {"name": "x", "scopes": "read", "days": "0"},
        {"name": "x", "scopes": "read", "days": "99999"},
        {"name": "x" * 101, "scopes": "read"},
        {"name": "x"},
    ],
)
def test_a_token_that_makes_no_sense_is_refused(
    browser: httpx.Client, store: MemoryStore, fields: dict[str, object]
) -> None:
    assert sent(browser, "/access", "/access/tokens", **fields).status_code == 422
    assert len(store.access.tokens()) == 1


def test_a_name_that_is_taken_is_a_conflict(browser: httpx.Client) -> None:
    sent(browser, "/access", "/access/tokens", name="ci", scopes="read")
    assert sent(browser, "/access", "/access/tokens", name="ci", scopes="read").status_code == 409


def test_only_administrators_see_it(stranger: httpx.Client, store: MemoryStore) -> None:
    store.access.issue("operator", [Scope.OPERATE, Scope.SUBMIT], digest("an operator"))
    stranger.post("/sign-in", data={"token": "an operator"})
    assert stranger.get("/access").status_code == 403
    assert 'href="/access"' not in stranger.get("/").text
    assert stranger.post("/access/tokens/1/revoke").status_code == 403


def test_every_change_has_a_line(browser: httpx.Client) -> None:
    sent(browser, "/access", "/access/tokens", name="ci", scopes="read")
    page = browser.get("/access").text
    assert "token created" in page
    assert "token ci" in page
    assert "127.0.0.1" in page


def test_the_audit_log_comes_in_pages(browser: httpx.Client, store: MemoryStore) -> None:
    somebody = store.on_behalf_of(Act(who="somebody", origin="here"))
    for number in range(LINES + 1):
        somebody.access.issue(f"token {number}", [Scope.READ], digest(str(number)))
    page = browser.get("/access").text
    older = re.search(r'href="(/access\?before=\d+)#audit"', page)
    assert older is not None
    assert "token token 0" in browser.get(older[1]).text
