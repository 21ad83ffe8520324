"""Rates and time left of a whole service: a node that is slowed is told, with both rates."""

from __future__ import annotations

import os
import re
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from orchestrator.client import Client
from orchestrator.contracts.campaigns import EventKind
from orchestrator.embedded.home import discard
from orchestrator.embedded.service import Service
from tests.waiting import wait_for

MANY_RUNS = """
name: many runs
design: {blocks: [{levels: {step: [1, 2, 3, 4]}, modes: [readers]}]}
replicates: 4000
replicates_per_job: 40
engine: {name: replay, mixture: "normal:1,1000,1", run_s: 0.1}
"""
STOPPED_S, RUNNING_S = 0.3, 0.1


@contextmanager
def slowed(pid: int) -> Iterator[None]:
    """The process stands still for three quarters of the time."""
    over = Event()

    def turns() -> None:
        while not over.is_set():
            os.kill(pid, signal.SIGSTOP)
            over.wait(STOPPED_S)
            os.kill(pid, signal.SIGCONT)
            over.wait(RUNNING_S)

    thread = Thread(target=turns)
    thread.start()
    yield
    over.set()
    thread.join()


def test_a_node_that_is_slowed_is_an_event_and_the_time_left_has_an_interval() -> None:
    folder = Path(tempfile.mkdtemp(prefix="ms-", dir="/var/tmp"))
    with Service(folder, nodes=2) as service, Client(service.address, service.token) as client:
        campaign = client.submit(MANY_RUNS)[0].id
        wait_for(
            "both nodes' rates from 100 runs",
            lambda: client.rates(campaign),
            lambda rates: [rate.node for rate in rates if rate.runs >= 100] == ["local-1", "local-2"],
        )
        left = client.progress(campaign)
        assert left.time_left_low_s is not None
        assert left.time_left_s is not None
        assert left.time_left_high_s is not None
        assert left.time_left_low_s < left.time_left_s < left.time_left_high_s
        with slowed(service.pids["agent-local-2"]):
            told = wait_for(  # whatever else this machine does may disturb the other one, or let this one rise before
                "a fall of its rate",
                lambda: [
                    one.message
                    for one in client.events(campaign)
                    if one.kind is EventKind.NODE_RATE_CHANGED and one.node == "local-2" and " fell " in one.message
                ],
            )
        client.cancel(campaign, now=True)
    discard(folder)
    assert re.fullmatch(r"node local-2 fell from \d+ to \d+ runs/min at \d\d:\d\d UTC", told[0])
