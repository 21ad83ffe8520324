"""Who may do what: scopes, sign-ins, tokens, and what the audit log keeps of it."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest

from orchestrator.api.credentials import GUESSES, Guesses, Holders
from orchestrator.api.gate import COOKIE
from orchestrator.cli.service.api import FIRST_TOKEN, admit
from orchestrator.client import Client
from orchestrator.contracts import errors
from orchestrator.contracts.access import Deed, Scope, digest, form_token
from orchestrator.store.memory import MemoryStore
from tests.unit.measured import STUDY, Laboratory

ACTIONS = [
    (Scope.SUBMIT, "POST", "/api/v1/campaigns"),
    (Scope.SUBMIT, "POST", "/api/v1/campaigns/1/rerun"),
    (Scope.OPERATE, "POST", "/api/v1/campaigns/1/pause"),
    (Scope.OPERATE, "POST", "/api/v1/campaigns/1/resume"),
    (Scope.OPERATE, "POST", "/api/v1/campaigns/1/cancel"),
    (Scope.OPERATE, "POST", "/api/v1/nodes/n1/reinstate"),
    (Scope.ADMIN, "POST", "/api/v1/tokens"),
    (Scope.ADMIN, "POST", "/api/v1/tokens/1/revoke"),
    (Scope.ADMIN, "GET", "/api/v1/tokens"),
    (Scope.ADMIN, "GET", "/api/v1/audit"),
    (Scope.READ, "GET", "/api/v1/campaigns"),
    (Scope.READ, "GET", "/api/v1/nodes"),
]


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: f"{action[1]} {action[2]}")
@pytest.mark.parametrize("held", list(Scope))
def test_a_route_wants_its_scope(store: MemoryStore, address: str, held: Scope, action: tuple[Scope, str, str]) -> None:
    wanted, method, path = action
    store.access.issue("other", [held], digest("other"))
    headers = {"Authorization": "Bearer other"}
    answer = httpx.request(method, address + path, headers=headers, json={}, trust_env=False)
    covered = held in (wanted, Scope.ADMIN) or wanted is Scope.READ
    assert (answer.status_code != 403) == covered
    if not covered:
        assert repr(str(wanted)) in answer.json()["detail"]


def test_a_token_is_made_shown_once_used_and_revoked(client: Client, address: str) -> None:
    made = client.create_token("ada", [Scope.READ], days=1)
    with Client(address, made.secret) as hers:
        assert hers.campaigns() == ()
        with pytest.raises(errors.ForbiddenError):
            hers.tokens()
    assert made.secret not in str(client.tokens())
    client.revoke_token(made.token.id)
    assert next(token for token in client.tokens() if token.name == "ada").revoked_at is not None


def test_what_is_done_is_audited_with_name_and_address(client: Client, laboratory: Laboratory) -> None:
    campaign, _ = client.submit(STUDY)
    client.pause(campaign.id)
    lines = client.audited()
    assert [line.what for line in lines] == [Deed.CAMPAIGN_PAUSED, Deed.CAMPAIGN_SUBMITTED]
    assert {(line.who, line.origin) for line in lines} == {("test", "127.0.0.1")}


def test_a_browser_changes_something_only_from_a_page_of_its_own(store: MemoryStore, address: str) -> None:
    token = store.access.issue("ada", [Scope.ADMIN], digest("ada"))
    store.access.sign_in(token.id, digest("cookie"), lasts_s=60)
    with httpx.Client(base_url=address, cookies={COOKIE: "cookie"}, trust_env=False) as browser:
        assert browser.get("/api/v1/campaigns").status_code == 200
        body = {"name": "bob", "scopes": ["read"]}
        assert browser.post("/api/v1/tokens", json=body).status_code == 403
        wrong = {"X-Form-Token": form_token("another cookie")}
        assert browser.post("/api/v1/tokens", json=body, headers=wrong).status_code == 403
        right = {"X-Form-Token": form_token("cookie")}
        foreign = right | {"Sec-Fetch-Site": "cross-site"}
        assert browser.post("/api/v1/tokens", json=body, headers=foreign).status_code == 403
        assert browser.post("/api/v1/tokens", json=body, headers=right).status_code == 201


def test_whoever_guesses_too_often_is_told_to_wait_and_the_right_token_still_opens(
    address: str, client: Client
) -> None:
    wrong = [
        httpx.get(f"{address}/api/v1/nodes", headers={"Authorization": f"Bearer {guess}"}, trust_env=False)
        for guess in range(GUESSES + 1)
    ]
    assert [answer.status_code for answer in wrong[:-2]] == [401] * (GUESSES - 1)
    assert wrong[-1].status_code == 429
    assert 0 < int(wrong[-1].headers["retry-after"]) <= 60
    assert client.nodes() == ()


def test_guesses_are_forgotten_after_a_minute(at: Callable[[], float], later: Callable[[float], None]) -> None:
    guesses = Guesses(at)
    for _ in range(GUESSES):
        guesses.count("192.0.2.7")
    assert guesses.wait_s("192.0.2.7") == 60
    assert guesses.wait_s("192.0.2.8") == 0
    later(60)
    assert guesses.wait_s("192.0.2.7") == 0


def test_a_revoked_token_is_believed_for_two_seconds_at_most(
    at: Callable[[], float], later: Callable[[float], None]
) -> None:
    store = MemoryStore()
    token = store.access.issue("ada", [Scope.READ], digest("secret"))
    holders = Holders(store.access, at)
    assert holders.of("secret") is not None
    store.access.revoke(token.id)
    assert holders.of("secret") is not None
    later(2)
    assert holders.of("secret") is None


def test_every_answer_forbids_what_our_pages_do_not_need(address: str) -> None:
    headers = httpx.get(f"{address}/healthz", trust_env=False).headers
    assert "script-src 'self';" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


def test_the_first_token_is_let_in_once_and_replaced_by_another() -> None:
    store = MemoryStore()
    admit(store, "first")
    admit(store, "first")
    admit(store, None)
    assert [token.name for token in store.access.tokens()] == [FIRST_TOKEN]
    admit(store, "second")
    assert store.access.holder(digest("first")) is None
    holder = store.access.holder(digest("second"))
    assert holder is not None
    assert holder.scopes == (Scope.ADMIN,)


def test_a_service_that_nobody_could_use_does_not_start() -> None:
    with pytest.raises(errors.MissingPartError, match="MODESCOPE_TOKEN"):
        admit(MemoryStore(), None)


@pytest.fixture
def _now() -> list[float]:
    return [1000.0]


@pytest.fixture
def at(_now: list[float]) -> Callable[[], float]:
    """A clock."""
    return lambda: _now[0]


@pytest.fixture
def later(_now: list[float]) -> Callable[[float], None]:
    """Moves it."""

    def move(seconds: float) -> None:
        _now[0] += seconds

    return move
