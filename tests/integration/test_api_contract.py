"""The OpenAPI document is true: schemathesis asks every route whatever it can think of, and compares the answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    negative_data_rejection,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)

from orchestrator.api import app
from orchestrator.contracts.access import Scope, digest
from orchestrator.embedded import postgres
from orchestrator.store import schema as ledger_schema
from orchestrator.store.memory import MemoryStore
from orchestrator.store.postgres import PostgresStore
from tests.unit.measured import Laboratory
from tests.unit.service import serving

TOKEN = "a token of the test"  # noqa: S105
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
QUESTIONS_A_ROUTE = {GenerationMode.POSITIVE: 25, GenerationMode.NEGATIVE: 12}
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]


@pytest.fixture(scope="module")
def address(postgres_server: postgres.Cluster) -> Iterator[str]:
    """A service over PostgreSQL, with a campaign that is measured and one that waits."""
    postgres.create_database(postgres_server, "fuzzed")
    url = postgres_server.url("fuzzed")
    ledger_schema.upgrade(url)
    with closing(PostgresStore(url, keep=4)) as store:
        for name in ("to be revoked", "this too", "test"):  # who guesses an id begins with 1
            store.access.issue(name, [Scope.ADMIN], digest(TOKEN if name == "test" else name))
        laboratory = Laboratory(store)
        laboratory.submit()
        laboratory.work_off()
        laboratory.submit()
        with serving(app.create(store)) as found:
            yield found


@pytest.fixture(scope="module")
def described(address: str) -> schemathesis.BaseSchema:
    """What the service says of itself, but for the token: every question here has the right one."""
    document = httpx.get(f"{address}/api/v1/openapi.json", headers=HEADERS, trust_env=False).json()
    document.pop("security", None)
    document["components"].pop("securitySchemes", None)
    for route in document["paths"].values():
        for operation in route.values():
            operation.pop("security", None)
    schema = schemathesis.openapi.from_dict(document)
    schema.config.update(base_url=address)
    return schema


def _operations(*, with_input: bool = False) -> list[tuple[str, str]]:
    """(method, path) of every route but the streams, which have no end, and have tests of their own.

    `with_input`: of those with anything that could be wrong.
    """
    paths = app.create(MemoryStore()).openapi()["paths"]
    return [
        (method, path)
        for path in paths
        for method, route in paths[path].items()
        if not path.endswith("/stream") and not (with_input and not {"parameters", "requestBody"} & set(route))
    ]


@pytest.mark.parametrize("operation", _operations(), ids=" ".join)
def test_every_answer_is_one_that_the_document_promises(
    described: schemathesis.BaseSchema, operation: tuple[str, str]
) -> None:
    _ask(described, operation, GenerationMode.POSITIVE)


@pytest.mark.parametrize("operation", _operations(with_input=True), ids=" ".join)
def test_what_the_document_forbids_is_refused(described: schemathesis.BaseSchema, operation: tuple[str, str]) -> None:
    _ask(described, operation, GenerationMode.NEGATIVE)


def _ask(described: schemathesis.BaseSchema, operation: tuple[str, str], mode: GenerationMode) -> None:
    """Many questions, as the document allows them, or as it does not."""
    method, path = operation

    @given(case=described[path][method].as_strategy(generation_mode=mode))
    @settings(
        max_examples=QUESTIONS_A_ROUTE[mode],
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def ask(case: schemathesis.Case) -> None:
        case.call_and_validate(headers=HEADERS, checks=CHECKS)

    ask()


def test_no_route_but_healthz_answers_without_a_token(address: str) -> None:
    with httpx.Client(base_url=address, trust_env=False) as stranger:
        answered = {
            path
            for method, path in _operations()
            if stranger.request(method, re.sub(r"{\w+}", "1", path)).status_code != 401
        }
    assert answered == {"/healthz"}
