"""Who may: tokens, sign-ins, and what the audit log keeps."""

from __future__ import annotations

import pytest

from orchestrator.contracts.access import Act, Deed, Scope, allows, digest, form_token, new_secret
from orchestrator.contracts.errors import ConflictError, NotFoundError
from tests.contract.agents import Agent
from tests.contract.stores import StoreUnderTest
from tests.contract.studies import study, submitted

ADA = Act(who="ada", origin="192.0.2.7")


def test_a_token_in_force_is_found_by_the_digest_of_its_secret(store: StoreUnderTest) -> None:
    secret = new_secret()
    issued = store.access.issue("ada", [Scope.READ, Scope.SUBMIT], digest(secret), lasts_s=3600)
    found = store.access.holder(digest(secret))
    assert found is not None
    assert (found.id, found.name, found.scopes) == (issued.id, "ada", (Scope.READ, Scope.SUBMIT))
    assert found.expires_at == pytest.approx(found.created_at + 3600, abs=1)
    assert store.access.holder(digest("something else")) is None


def test_the_minute_of_its_last_use_is_kept(store: StoreUnderTest) -> None:
    assert store.access.issue("ada", [Scope.READ], "d").used_at is None
    store.access.holder("d")
    assert store.access.tokens()[0].used_at is not None


def test_an_expired_token_opens_nothing_and_frees_its_name(store: StoreUnderTest) -> None:
    store.access.issue("ada", [Scope.ADMIN], "old", lasts_s=0)
    assert store.access.holder("old") is None
    store.access.issue("ada", [Scope.ADMIN], "new")
    assert store.access.holder("new") is not None


def test_two_tokens_in_force_never_share_a_name(store: StoreUnderTest) -> None:
    first = store.access.issue("ada", [Scope.READ], "1")
    with pytest.raises(ConflictError, match="'ada' is in force"):
        store.access.issue("ada", [Scope.ADMIN], "2")
    store.access.revoke(first.id)
    store.access.issue("ada", [Scope.ADMIN], "2")
    assert [token.name for token in store.access.tokens()] == ["ada", "ada"]


def test_revoking_a_token_ends_its_sign_ins(store: StoreUnderTest) -> None:
    token = store.access.issue("ada", [Scope.READ], "t")
    store.access.sign_in(token.id, "s", lasts_s=3600)
    assert store.access.holder("s") is not None
    assert store.access.revoke(token.id).revoked_at is not None
    assert store.access.holder("s") is None
    assert store.access.holder("t") is None
    assert store.access.revoke(token.id).revoked_at is not None


def test_a_token_that_is_not_there_cannot_be_revoked(store: StoreUnderTest) -> None:
    with pytest.raises(NotFoundError, match="token 7"):
        store.access.revoke(7)


def test_a_sign_in_ends_by_itself_and_by_signing_out(store: StoreUnderTest) -> None:
    token = store.access.issue("ada", [Scope.READ], "t")
    store.access.sign_in(token.id, "ended", lasts_s=0)
    store.access.sign_in(token.id, "open", lasts_s=60)
    assert store.access.holder("ended") is None
    assert store.access.holder("open") is not None
    store.access.sign_out("open")
    store.access.sign_out("open")
    assert store.access.holder("open") is None


def test_every_change_on_somebodys_behalf_leaves_one_line(store: StoreUnderTest) -> None:
    Agent(store, "n1")
    hers = store.on_behalf_of(ADA)
    campaign_id = submitted(hers, study())
    hers.campaigns.pause(campaign_id)
    hers.campaigns.resume(campaign_id)
    hers.campaigns.cancel(campaign_id)
    hers.campaigns.cancel(campaign_id)
    hers.nodes.drain("n1")
    hers.nodes.reinstate("n1")
    token = hers.access.issue("bob", [Scope.READ], "b")
    hers.access.sign_in(token.id, "s", lasts_s=60)
    hers.access.sign_out("s")
    hers.access.revoke(token.id)
    lines = store.access.audited()
    assert {(line.who, line.origin) for line in lines} == {("ada", "192.0.2.7")}
    assert [line.what for line in reversed(lines)] == list(DEEDS)
    assert lines[-1].subject == f"campaign {campaign_id}"
    assert [line.id for line in lines] == sorted((line.id for line in lines), reverse=True)


DEEDS = (
    Deed.CAMPAIGN_SUBMITTED,
    Deed.CAMPAIGN_PAUSED,
    Deed.CAMPAIGN_RESUMED,
    Deed.CAMPAIGN_CANCELLED,
    Deed.NODE_DRAINED,
    Deed.NODE_REINSTATED,
    Deed.TOKEN_CREATED,
    Deed.SIGNED_IN,
    Deed.SIGNED_OUT,
    Deed.TOKEN_REVOKED,
)


def test_what_is_refused_leaves_no_line(store: StoreUnderTest) -> None:
    with pytest.raises(NotFoundError):
        store.on_behalf_of(ADA).nodes.drain("nobody")
    with pytest.raises(NotFoundError):
        store.on_behalf_of(ADA).campaigns.pause(7)
    assert store.access.audited() == []


def test_what_nobody_asked_for_leaves_no_line(store: StoreUnderTest) -> None:
    Agent(store, "n1")
    store.nodes.drain("n1")
    assert store.access.audited() == []


def test_the_audit_log_is_read_page_by_page(store: StoreUnderTest) -> None:
    for number in range(5):
        store.on_behalf_of(ADA).access.issue(f"t{number}", [Scope.READ], str(number))
    first = store.access.audited(limit=2)
    second = store.access.audited(limit=2, before=first[-1].id)
    assert [line.subject for line in first + second] == ["token t4", "token t3", "token t2", "token t1"]


def test_admin_is_every_scope_and_every_scope_lets_one_read() -> None:
    assert all(allows([Scope.ADMIN], scope) for scope in Scope)
    assert allows([Scope.SUBMIT], Scope.READ)
    assert not allows([Scope.SUBMIT], Scope.OPERATE)
    assert not allows([], Scope.READ)


def test_a_form_token_follows_from_the_sign_in_and_does_not_tell_it() -> None:
    secret = new_secret()
    assert form_token(secret) == form_token(secret) != form_token(new_secret())
    assert secret not in form_token(secret)
