"""The controller: decide in SQL, commit, then send hints (DESIGN 1 and 12)."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from typing import Protocol

from orchestrator.campaigns.forecaster import Forecaster
from orchestrator.contracts.errors import UnavailableError
from orchestrator.store.ports import Offer, Store

logger = logging.getLogger(__name__)

IDLE_S = 1.0
"""The longest sleep between two passes; the database wakes us earlier when something changed."""
SHORTEST_TURN_S = 0.03
"""From one pass to the next: a pass costs as much for one finished job as for ten, and a node has two jobs in hand."""
RECONCILE_EVERY_S = 0.5
REMIND_ANALYSIS_EVERY_S = 5.0
LONGEST_FORECAST_S = 5.0
"""A turn of the forecaster that takes longer is not waited for at the end."""


class Hints(Protocol):
    """What the controller needs of the queue."""

    def offer(self, offers: Sequence[Offer]) -> None:
        """Tell nodes about jobs."""

    def analyse(self) -> None:
        """Tell the analysis workers that there is work."""

    def close(self) -> None:
        """Tell nobody anything more."""


class _Every:
    """Something to be done now and then."""

    def __init__(self, interval_s: float) -> None:
        self._interval_s = interval_s
        self._last = float("-inf")

    def is_due(self) -> bool:
        """Has the interval gone by since it was done?"""
        return time.monotonic() - self._last >= self._interval_s

    def done(self) -> None:
        """It has just been done."""
        self._last = time.monotonic()


class Controller:
    """One of any number of controllers; whoever has the lock leads for one pass."""

    def __init__(self, store: Store, hints: Hints) -> None:
        self._store = store
        self._hints = hints
        self._stopping = threading.Event()
        self._reconciling = _Every(RECONCILE_EVERY_S)
        self._reminding = _Every(REMIND_ANALYSIS_EVERY_S)
        self._unsure: list[Offer] = []
        """Whether their nodes must be told was not known when it was asked."""

    def stop(self) -> None:
        """End after the pass in flight."""
        self._stopping.set()

    def run(self) -> None:
        """Pass after pass until `stop`; a database that is away is waited for."""
        forecasting = threading.Thread(
            target=Forecaster(self._store).run, args=(self._stopping,), name="forecaster", daemon=True
        )
        forecasting.start()
        woken = False
        while not self._stopping.is_set():
            try:
                begun_at = time.monotonic()
                self.once()
                # After each pass that somebody asked for comes another: what changed meanwhile may not have woken us.
                woken = self._store.control.wait(SHORTEST_TURN_S if woken or self._unsure else IDLE_S)
                self._stopping.wait(begun_at + SHORTEST_TURN_S - time.monotonic())
            except UnavailableError as away:
                logger.warning("%s", away)
                self._stopping.wait(IDLE_S)
        forecasting.join(timeout=LONGEST_FORECAST_S)
        self._hints.close()
        self._store.close()

    def once(self) -> None:
        """One pass: what it decides is committed before anybody hears of it."""
        offers = self._reconcile() if self._reconciling.is_due() else []
        offers += self._store.control.dispatch()
        for offer in offers:
            logger.info("offered", extra={"job": offer.job_id, "node": offer.node})
        told, self._unsure = self._store.control.unengaged([*self._unsure, *offers])
        self._hints.offer(told)

    def _reconcile(self) -> list[Offer]:
        """Put right what went wrong, in one transaction; offers that seem not to have been heard."""
        self._reconciling.done()
        with self._store.control.leader() as leading:
            if not leading:
                return []
            self._store.control.reconcile()
            offers = self._store.control.unheard()
            due = self._reminding.is_due() and self._store.control.analysis_due()
        if due:
            self._reminding.done()
            self._hints.analyse()
        return offers
