"""Signing in and out, and what a stranger is shown."""

from __future__ import annotations

import re

import httpx

from orchestrator.api.credentials import GUESSES
from orchestrator.api.gate import COOKIE
from orchestrator.contracts.access import Deed
from orchestrator.store.memory import MemoryStore
from tests.unit.web.conftest import TOKEN


def test_a_stranger_is_sent_to_the_sign_in_page(stranger: httpx.Client) -> None:
    answer = stranger.get("/nodes")
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
    assert 'name="token"' in stranger.get("/sign-in").text


def test_a_token_opens_a_sign_in_that_scripts_and_other_sites_cannot_use(
    stranger: httpx.Client, store: MemoryStore
) -> None:
    answer = stranger.post("/sign-in", data={"token": f" {TOKEN}\n"})
    cookie = answer.headers["set-cookie"]
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert TOKEN not in cookie
    assert [line.what for line in store.access.audited()] == [Deed.SIGNED_IN]


def test_a_wrong_token_is_told_so_and_not_repeated(stranger: httpx.Client) -> None:
    answer = stranger.post("/sign-in", data={"token": "<script>guess"})
    assert answer.status_code == 403
    assert "opens nothing here" in answer.text
    assert "guess" not in answer.text


def test_after_many_wrong_tokens_even_the_right_one_waits(stranger: httpx.Client) -> None:
    for guess in range(GUESSES):
        stranger.post("/sign-in", data={"token": str(guess)})
    answer = stranger.post("/sign-in", data={"token": TOKEN})
    assert answer.status_code == 429
    assert COOKIE not in stranger.cookies


def test_signing_out_wants_the_pages_own_form(browser: httpx.Client) -> None:
    assert browser.post("/sign-out").status_code == 403
    token = re.search(r'name="form_token" value="([^"]+)"', browser.get("/nothing").text)
    assert token is not None
    assert browser.post("/sign-out", data={"form_token": token[1]}).headers["location"] == "/sign-in"
    assert browser.get("/nothing").status_code == 303


def test_errors_are_pages_for_people_and_documents_for_programs(browser: httpx.Client) -> None:
    page = browser.get("/nothing")
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert browser.get("/api/v1/nothing").headers["content-type"] == "application/problem+json"


def test_scripts_and_styles_are_open_and_plotly_is_ours(stranger: httpx.Client) -> None:
    assert stranger.get("/static/style.css").status_code == 200
    assert stranger.get("/static/plotly.js").headers["content-type"].startswith("text/javascript")
    assert stranger.get("/static/%2e%2e/site.py").status_code == 404
