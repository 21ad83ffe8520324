"""Two controllers on one ledger, of which one stands still in the middle of its pass."""

from __future__ import annotations

from uuid import uuid4

import psycopg
import pytest

from orchestrator.contracts.errors import UnavailableError
from orchestrator.contracts.nodes import Hello
from orchestrator.store.postgres import PostgresStore, control
from tests.contract.studies import study
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


def test_only_the_leader_hands_jobs_out(database_url: str) -> None:
    leader, other = PostgresStore(database_url, keep=1), PostgresStore(database_url, keep=1)
    a_node_and_a_job(leader)
    with leader.control.leader():
        assert other.control.dispatch() == []
        (offer,) = leader.control.dispatch()
    assert offer.node == "n1"
    leader.close()
    other.close()


def test_whether_a_node_that_hands_over_must_be_told_is_asked_again(database_url: str) -> None:
    store = PostgresStore(database_url, keep=1)
    a_node_and_a_job(store)
    offers = store.control.dispatch()
    assert [offer.node for offer in offers] == ["n1"]
    with psycopg.connect(database_url) as handing_over:
        handing_over.execute("SELECT lock_work_of(id) FROM nodes")
        assert store.control.unengaged(offers) == ([], offers)
    assert store.control.unengaged(offers) == (offers, [])
    store.close()


def a_node_and_a_job(store: PostgresStore) -> None:
    store.nodes.hello(Hello(node="n1", session=uuid4(), boot_id="b", version="1", engines={"builtin": "1"}))
    store.campaigns.submit(study())
