"""A service over an in-memory store, and a client of it."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from orchestrator.api import app
from orchestrator.client import Client
from orchestrator.contracts.access import Scope, digest
from orchestrator.store.memory import MemoryStore
from tests.unit.measured import Laboratory
from tests.unit.service import serving

TOKEN = "a token of the test"  # noqa: S105


@pytest.fixture
def store() -> MemoryStore:
    """A ledger with nothing but an administrator's token."""
    empty = MemoryStore()
    empty.access.issue("test", [Scope.ADMIN], digest(TOKEN))
    return empty


@pytest.fixture
def laboratory(store: MemoryStore) -> Laboratory:
    """One node that can do what the small study asks."""
    return Laboratory(store)


@pytest.fixture
def hints() -> list[str]:
    """The nodes that were asked to look at once."""
    return []


@pytest.fixture
def address(store: MemoryStore, hints: list[str]) -> Iterator[str]:
    """Where the service answers."""
    with serving(app.create(store, stop_now=hints.extend)) as found:
        yield found


@pytest.fixture
def client(address: str) -> Iterator[Client]:
    """Our own client, with the right token."""
    with Client(address, TOKEN) as ours:
        yield ours


@pytest.fixture
def http(address: str) -> Iterator[httpx.Client]:
    """A bare HTTP client, with the right token."""
    with httpx.Client(
        base_url=address, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60, trust_env=False
    ) as bare:
        yield bare
