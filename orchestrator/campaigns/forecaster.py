"""Beside the controller's passes: how fast nodes are, and how long campaigns will take, told again and again.

It decides nothing, so it needs no lock: two controllers find the same, and a change is told once (`Rates.keep`). In the
same turns rounds are watched (`round_watch`).
"""

from __future__ import annotations

import logging
import threading
import time

import numpy as np

from orchestrator.campaigns import forecast
from orchestrator.campaigns.round_watch import RoundWatch
from orchestrator.campaigns.speed import Speed
from orchestrator.contracts.errors import ModescopeError
from orchestrator.store.ports import Store

logger = logging.getLogger(__name__)

EVERY_S = 3.0
SHARE = 0.05
"""Of one processor's time, at most: with many nodes and settings it tells less often."""


class Forecaster:
    """Tells the rates of all campaigns that are not over."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._speeds: dict[int, Speed] = {}
        self._rounds = RoundWatch(store)

    def run(self, stopping: threading.Event) -> None:
        """Turn after turn until told to stop; what goes wrong is logged, and never the controller's matter."""
        took_s = 0.0
        while not stopping.wait(max(EVERY_S, took_s / SHARE)):
            begin = time.thread_time()
            for turn, what in ((self.once, "rates"), (self._rounds.once, "rounds")):
                try:
                    turn()
                except ModescopeError as error:
                    logger.warning("%s: %s", what, error)
            took_s = time.thread_time() - begin

    def once(self) -> None:
        """One turn."""
        if not any(campaign.ended_at is None for campaign in self._store.campaigns.all()):
            self._speeds.clear()
            return
        ahead = forecast.NOTHING_AHEAD
        running = forecast.running(self._store)
        self._speeds = {
            one.id: self._speeds.get(one.id) or Speed(self._store.campaigns.study(one.id)) for one in running
        }
        for campaign in running:
            rng = np.random.default_rng(campaign.id)  # the same draws every time: only news move what is told
            found = forecast.find(self._store, campaign, self._speeds[campaign.id], rng, ahead=ahead)
            ahead = ahead if campaign.paused else found.left
            for change in self._store.rates.keep(campaign.id, found.forecast, found.rates):
                logger.warning("%s", change, extra={"campaign": campaign.id})
