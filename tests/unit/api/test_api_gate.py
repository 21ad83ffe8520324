"""What stands before and behind every route: the token, the bounded body, one-line problem details."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from orchestrator.api import app, problems
from orchestrator.api.gate import MAX_BODY_BYTES
from orchestrator.client import Client
from orchestrator.contracts import errors
from orchestrator.store.memory import MemoryStore
from tests.unit.service import serving


def is_problem(answer: httpx.Response, status: int) -> str:
    """The one line of detail."""
    document = answer.json()
    assert answer.status_code == document["status"] == status
    assert answer.headers["content-type"] == problems.MEDIA_TYPE
    assert {"type", "title", "detail"} <= document.keys()
    assert "\n" not in document["detail"]
    return str(document["detail"])


@pytest.mark.parametrize("path", ["/api/v1/campaigns", "/api/v1/openapi.json", "/api/nothing"])
@pytest.mark.parametrize("header", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "a token of the test"}])
def test_without_the_token_nothing_is_told(address: str, path: str, header: dict[str, str]) -> None:
    answer = httpx.get(address + path, headers=header, trust_env=False)
    is_problem(answer, 401)
    assert answer.headers["www-authenticate"] == "Bearer"


def test_health_is_open_to_everybody(address: str) -> None:
    assert httpx.get(f"{address}/healthz", trust_env=False).json()["status"] == "ok"


def test_a_wrong_token_is_not_allowed_to_the_client(address: str) -> None:
    with Client(address, "wrong") as client, pytest.raises(errors.NotAllowedError, match="MODESCOPE_TOKEN"):
        client.campaigns()


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/api/v1/nothing", None, 404),
        ("DELETE", "/api/v1/campaigns", None, 405),
        ("POST", "/api/v1/campaigns", {"text": "name: x"}, 422),
        ("POST", "/api/v1/campaigns", {"study": 7}, 422),
        ("POST", "/api/v1/campaigns", {"study": "a: [1"}, 422),
        ("GET", "/api/v1/campaigns/none", None, 422),
        ("GET", "/api/v1/campaigns/0", None, 422),
        ("GET", f"/api/v1/campaigns/{10**30}", None, 422),
        ("GET", "/api/v1/campaigns/7", None, 404),
        ("POST", "/api/v1/campaigns/7/rerun", {"flag": "multimodal"}, 404),
        ("POST", "/api/v1/campaigns/7/rerun", {"flag": "multimodal", "replicates": 0}, 422),
        ("POST", "/api/v1/campaigns/7/cancel", {"now": "perhaps"}, 422),
        ("POST", "/api/v1/nodes/nobody/reinstate", None, 404),
    ],
)
def test_every_mistake_is_one_line(
    http: httpx.Client, method: str, path: str, body: dict[str, object] | None, status: int
) -> None:
    is_problem(http.request(method, path, json=body), status)


def test_a_body_that_is_not_json_is_one_line(http: httpx.Client) -> None:
    answer = http.post("/api/v1/campaigns", content=b"{", headers={"Content-Type": "application/json"})
    is_problem(answer, 422)


def test_an_announced_body_that_is_too_large_is_refused_unread(http: httpx.Client) -> None:
    answer = http.post("/api/v1/campaigns", json={"study": "x" * MAX_BODY_BYTES})
    assert str(MAX_BODY_BYTES) in is_problem(answer, 413)


def test_a_chunked_body_that_is_too_large_is_cut_off(http: httpx.Client) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(MAX_BODY_BYTES // 50_000 + 2):
            yield b"x" * 50_000

    is_problem(http.post("/api/v1/campaigns", content=pieces()), 413)


def test_the_unexpected_is_one_line_too(
    store: MemoryStore, http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_campaigns: object) -> None:
        raise RuntimeError("the secret of the house")

    monkeypatch.setattr(type(store.campaigns), "all", fail)
    assert "secret" not in is_problem(http.get("/api/v1/campaigns"), 500)


def test_every_error_of_ours_comes_back_as_itself() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.UserError)]
    for kind in kinds:
        document = problems.of(kind("what, where, what to do"))
        again = problems.error(document, document["status"])
        assert type(again) is kind
        assert str(again) == "what, where, what to do"


def test_nobody_there_is_one_line_that_says_what_to_start() -> None:
    with serving(app.create(MemoryStore())) as gone:
        pass
    with Client(gone, "x") as client, pytest.raises(errors.UnavailableError, match="modescope up"):
        client.campaigns()
