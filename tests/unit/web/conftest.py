"""The whole service over an in-memory store, and a browser without a screen."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from orchestrator.contracts.access import Scope, digest
from orchestrator.store.memory import MemoryStore
from orchestrator.web import site
from tests.unit.service import serving

TOKEN = "a token of the test"  # noqa: S105


@pytest.fixture
def store() -> MemoryStore:
    """A ledger with nothing but an administrator's token."""
    empty = MemoryStore()
    empty.access.issue("test", [Scope.ADMIN], digest(TOKEN))
    return empty


@pytest.fixture
def address(store: MemoryStore) -> Iterator[str]:
    """Where the service answers."""
    with serving(site.create(store)) as found:
        yield found


@pytest.fixture
def stranger(address: str) -> Iterator[httpx.Client]:
    """A browser that is not signed in; it follows no redirect."""
    with httpx.Client(base_url=address, headers={"Accept": "text/html"}, trust_env=False, timeout=60) as browser:
        yield browser


@pytest.fixture
def browser(stranger: httpx.Client) -> httpx.Client:
    """A browser that is signed in as administrator."""
    stranger.post("/sign-in", data={"token": TOKEN})
    return stranger
