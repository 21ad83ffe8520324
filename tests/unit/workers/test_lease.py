"""The holder's side of a lease, on its own clock."""

from __future__ import annotations

import time
import uuid

import pytest

from orchestrator.contracts.errors import UnavailableError
from orchestrator.contracts.jobs import Assignment, Renewal
from orchestrator.store.memory import MemoryStore
from workers.lease import Lease

TIMEOUT_S = 60.0


class Clock:
    """time.monotonic, moved by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    moved = Clock()
    monkeypatch.setattr(time, "monotonic", moved)
    return moved


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> MemoryStore:
    built = MemoryStore()
    monkeypatch.setattr(built.jobs, "renew", lambda *_: Renewal(granted=True))
    return built


def a_lease(store: MemoryStore) -> Lease:
    assignment = Assignment(
        job_id=1,
        campaign_id=1,
        setting_id=1,
        token=uuid.uuid4(),
        attempt=1,
        factors=(),
        levels=(),
        modes=("readers",),
        engine="builtin",
        engine_options={},
        node_options={},
        pending=(),
        max_tries=3,
        lease_s=TIMEOUT_S + 15.0,
        database_time=5000.0,
        ledger=uuid.uuid4(),
    )
    return Lease(store, assignment, asked_at=time.monotonic())


def test_a_run_may_start_while_its_time_out_and_some_more_is_left(clock: Clock, store: MemoryStore) -> None:
    lease = a_lease(store)
    clock.now += 9.9
    assert not lease.is_short()
    clock.now += 0.2
    assert lease.is_short()


def test_renewing_starts_it_again(clock: Clock, store: MemoryStore) -> None:
    lease = a_lease(store)
    clock.now += 30.0
    assert lease.renew().granted
    assert not lease.is_short()


def test_a_database_that_is_away_takes_nothing(
    clock: Clock, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = a_lease(store)
    clock.now += 30.0

    def away(*_: object) -> Renewal:
        raise UnavailableError

    monkeypatch.setattr(store.jobs, "renew", away)
    assert lease.renew().granted
    assert lease.is_short(), "it will ask again before the next run"


def test_times_are_told_on_the_databases_clock(clock: Clock, store: MemoryStore) -> None:
    lease = a_lease(store)
    clock.now += 7.0
    assert lease.database_time() == 5007.0
