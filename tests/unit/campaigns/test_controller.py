"""The controller's passes, on a store that records what it is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from orchestrator.campaigns.controller import Controller
from orchestrator.contracts.errors import UnavailableError
from orchestrator.store.memory import MemoryStore
from orchestrator.store.ports import Offer


class Heard:
    """Hints as they were sent, and whether the lock was still held then."""

    def __init__(self) -> None:
        self.offers: list[Offer] = []
        self.reminders = 0
        self.while_leading = False
        self._leading = False

    def offer(self, offers: Sequence[Offer]) -> None:
        self.offers += offers
        self.while_leading |= self._leading

    def analyse(self) -> None:
        self.reminders += 1

    def close(self) -> None:
        pass

    @contextmanager
    def leader(self, *, held: bool) -> Iterator[bool]:
        self._leading = True
        yield held
        self._leading = False


def a_controller(monkeypatch: pytest.MonkeyPatch, *, leads: bool = True) -> tuple[Controller, Heard, MemoryStore]:
    store, hints = MemoryStore(), Heard()
    monkeypatch.setattr(store.control, "leader", lambda: hints.leader(held=leads))
    monkeypatch.setattr(store.control, "dispatch", lambda **_: [Offer(job_id=7, node="n1")] if leads else [])
    monkeypatch.setattr(store.control, "unengaged", lambda offers: (offers, []))
    monkeypatch.setattr(store.control, "analysis_due", lambda: True)
    return Controller(store, hints), hints, store


def test_hints_are_sent_after_the_decision_is_committed(monkeypatch: pytest.MonkeyPatch) -> None:
    controller, hints, _ = a_controller(monkeypatch)
    controller.once()
    assert hints.offers == [Offer(job_id=7, node="n1")]
    assert not hints.while_leading


def test_whoever_does_not_lead_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    controller, hints, _ = a_controller(monkeypatch, leads=False)
    controller.once()
    assert (hints.offers, hints.reminders) == ([], 0)


def test_analysis_workers_are_reminded_now_and_then_only(monkeypatch: pytest.MonkeyPatch) -> None:
    controller, hints, _ = a_controller(monkeypatch)
    for _ in range(5):
        controller.once()
    assert hints.reminders == 1


def test_what_is_not_known_of_an_offer_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    controller, hints, store = a_controller(monkeypatch)
    monkeypatch.setattr(store.control, "unengaged", lambda offers: ([], offers))
    controller.once()
    monkeypatch.setattr(store.control, "dispatch", lambda **_: [])
    monkeypatch.setattr(store.control, "unengaged", lambda offers: (offers, []))
    assert hints.offers == []
    controller.once()
    assert hints.offers == [Offer(job_id=7, node="n1")]
    controller.once()
    assert len(hints.offers) == 1


def test_a_database_that_is_away_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    controller, hints, store = a_controller(monkeypatch)
    monkeypatch.setattr("orchestrator.campaigns.controller.IDLE_S", 0.0)
    passes = iter([UnavailableError(), None])

    def wait(_timeout_s: float) -> bool:
        problem = next(passes)
        if problem is not None:
            raise problem
        controller.stop()
        return False

    monkeypatch.setattr(store.control, "wait", wait)
    controller.run()
    assert len(hints.offers) == 2
