"""Two controllers on one ledger, of which one stands still in the middle of its pass."""

from __future__ import annotations

import pytest

from orchestrator.contracts.errors import UnavailableError
from orchestrator.store.postgres import PostgresStore, control
from tests.waiting import wait_for


def leads(store: PostgresStore) -> bool:
    with store.control.leader() as leading:
        return leading


def test_a_controller_that_is_frozen_in_its_pass_loses_the_lock(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control, "LONGEST_TURN", "200ms")
    frozen, other = PostgresStore(database_url, keep=1), PostgresStore(database_url, keep=1)

    def wake_up_too_late() -> None:
        with frozen.control.leader() as leading:
            assert leading
            assert not leads(other)
            wait_for("the other to lead", lambda: leads(other), within_s=10)
            frozen.control.reconcile()

    with pytest.raises(UnavailableError):
        wake_up_too_late()
    assert leads(frozen)
    frozen.close()
    other.close()
