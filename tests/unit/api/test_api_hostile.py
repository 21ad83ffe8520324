"""Hostile input: a clear refusal, nothing stored, no memory taken."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest

from orchestrator.api import gate
from orchestrator.api.gate import MAX_BODY_BYTES
from orchestrator.store.memory import MemoryStore
from tests.unit.measured import STUDY, Laboratory

LAUGHS = "a: &a [x, x]\n" + "".join(
    f"{b}: &{b} [*{a}, *{a}, *{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
WIDE = str(list(range(1, 5000)))
TEXTS = {
    "script": "<script>alert(1)</script>",
    "sql": "'; DROP TABLE campaigns; --",
    "path": "../../../../etc/passwd",
    "right-to-left": "\u202etxt.exe",
    "zero width": "n\u200b1",
    "nul": "a\x00b",
    "newline": "a\nSet-Cookie: x",
    "combining": "e" + "\u0301" * 500,
    "template": "{{7*7}}${7*7}%s%n",
}
STUDIES = {
    "billion laughs": LAUGHS,
    "deep flow": "name: " + "[" * 5000,
    "deep mapping": "".join(f"{' ' * n}a:\n" for n in range(500)),
    "alias": "name: &n x\ndesign: *n\n",
    "tag": "name: !!python/object/apply:os.system [id]\n",
    "merge": "<<: {name: x}\n",
    "huge number": f"name: x\nreplicates: {'9' * 5000}\n",
    "key twice": "name: x\nname: y\n",
    "binary": "\x00\x01\x02",
    "surrogate": "name: \ud800",
    "two documents": "name: x\n---\nname: y\n",
    "no mapping": "- 1\n- 2\n",
    "nothing": "",
    "long key": f"{'k' * 200_000}: 1\n",
    "far too many settings": STUDY.replace("[64, 1024]", WIDE).replace("threads: [2]", f"threads: {WIDE}"),
}


def _refused(answer: httpx.Response, *, with_status: set[int]) -> None:
    """One line, of the right kind, that does not answer with more than it was told."""
    assert answer.status_code in with_status, answer.text[:300]
    assert answer.headers["content-type"] == "application/problem+json"
    detail = answer.json()["detail"]
    assert detail
    assert "\n" not in detail
    assert len(detail) < 2000


@pytest.fixture
def nothing_stored(store: MemoryStore) -> Iterator[None]:
    """Afterwards the ledger is as empty as before."""
    yield
    assert store.campaigns.all() == []
    assert store.access.audited() == []
    assert len(store.access.tokens()) == 1


@pytest.mark.usefixtures("nothing_stored")
@pytest.mark.parametrize("name", STUDIES)
def test_a_hostile_study_is_refused_in_one_line(http: httpx.Client, name: str) -> None:
    answer = http.post(
        "/api/v1/campaigns", content=_as_json(STUDIES[name]), headers={"Content-Type": "application/json"}
    )
    _refused(answer, with_status={413, 422})


@pytest.mark.parametrize("name", STUDIES)
def test_a_hostile_study_is_checked_without_harm(http: httpx.Client, name: str) -> None:
    answer = http.post(
        "/api/v1/studies/check", content=_as_json(STUDIES[name]), headers={"Content-Type": "application/json"}
    )
    assert answer.status_code in (200, 413, 422)
    if answer.status_code == 200:
        assert answer.json()["problems"]
        assert all("\n" not in problem["message"] for problem in answer.json()["problems"])


@pytest.mark.parametrize("name", TEXTS)
def test_a_hostile_name_finds_nothing_and_breaks_nothing(http: httpx.Client, laboratory: Laboratory, name: str) -> None:
    campaign = laboratory.submit()
    text = TEXTS[name]
    asked = [
        http.post(f"/api/v1/nodes/{quote(text, safe='')}/drain"),
        http.get(f"/api/v1/campaigns/{campaign.id}", params={"x": text}),
        http.get("/api/v1/campaigns", params={"cursor": text}),
        http.get("/api/v1/campaigns", params={"state": text}),
        http.get(f"/api/v1/campaigns/{campaign.id}/configurations", params={f"level.{text}": "4"}),
        http.get(f"/api/v1/campaigns/{campaign.id}/configurations", params={"level.threads": text}),
        http.get(f"/api/v1/campaigns/{campaign.id}/configurations", params={"mode": text, "verdict": text}),
        http.get(f"/api/v1/campaigns/{campaign.id}/export", params={"format": text}),
    ]
    assert {answer.status_code for answer in asked} <= {200, 404, 422}
    for answer in asked:
        if answer.status_code != 200:
            _refused(answer, with_status={404, 422})


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"null", b"[]", b"\xff\xfe", b"[" * 100_000),
        *(b'{"study": 7}', b'{"study": "x", "more": 1}', b'{"\\ud800": 1}'),
    ],
    ids=lambda body: repr(body[:20]),
)
@pytest.mark.usefixtures("nothing_stored")
def test_a_body_that_is_no_request_is_refused(http: httpx.Client, body: bytes) -> None:
    answer = http.post("/api/v1/campaigns", content=body, headers={"Content-Type": "application/json"})
    _refused(answer, with_status={400, 422})


@pytest.mark.usefixtures("nothing_stored")
@pytest.mark.parametrize("how", ["announced", "chunked"])
def test_ten_megabytes_are_refused_and_not_kept(http: httpx.Client, how: str) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(160):
            yield b"x" * 65_536

    tracemalloc.start()
    headers = {"Content-Type": "application/json"}
    if how == "announced":
        headers["Content-Length"] = str(160 * 65_536)
    before, _ = tracemalloc.get_traced_memory()
    answer = http.post("/api/v1/campaigns", content=pieces(), headers=headers)
    _refused(answer, with_status={413})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - before < 6 * MAX_BODY_BYTES


def test_a_body_without_end_is_hung_up_on(http: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "MOST_SPILLED_BYTES", 1_000_000)

    def pieces() -> Iterator[bytes]:
        while True:
            yield b"x" * 65_536

    try:
        answer = http.post("/api/v1/campaigns", content=pieces(), headers={"Content-Type": "application/json"})
        _refused(answer, with_status={413})
    except (httpx.WriteError, httpx.ReadError):
        pass  # what was sent in vain can cost the sender the answer


@pytest.mark.usefixtures("nothing_stored")
def test_a_token_with_a_hostile_name_is_refused(http: httpx.Client) -> None:
    for name in ("a\x00b", "a\nb", "", "n" * 101):
        _refused(http.post("/api/v1/tokens", json={"name": name, "scopes": ["read"]}), with_status={422})


def test_a_long_idempotency_key_is_refused(http: httpx.Client) -> None:
    answer = http.post("/api/v1/campaigns", json={"study": STUDY}, headers={"Idempotency-Key": "k" * 201})
    _refused(answer, with_status={422})


def test_a_header_of_garbage_is_no_token(address: str) -> None:
    for secret in (b"Bearer \xff\xfe", b"Bearer " + b"x" * 8000, b"Basic eDp5", b"Bearer"):
        answer = httpx.get(f"{address}/api/v1/nodes", headers={b"Authorization": secret}, trust_env=False)  # type: ignore[dict-item]
        assert answer.status_code in (401, 429)


def _as_json(study: str) -> bytes:
    """A request; what is no character goes as an escape."""
    return json.dumps({"study": study}).encode()
