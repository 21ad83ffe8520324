"""Two real processes and a bounded queue, a consumer at a set rate; and what observing them costs."""

from __future__ import annotations

import multiprocessing
import os
import time
import zlib
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.queues import Queue
from queue import Empty
from typing import Any

import numpy as np

from analysis.arrays import Array
from analysis.service_rate import CountEstimator, Outcome, TimeEstimator

ITEM = bytes(8192)
CAPACITY = 16
SPUN_S = 300e-6
"""The end of a service is waited for awake: sleeping is late by tens of microseconds, more on a busy machine."""
WORK_ITEMS, WORK_ROUNDS = 500, 250
PERIOD_S = 0.02

_context = multiprocessing.get_context("fork")


@dataclass(frozen=True, kw_only=True)
class RealRun:
    """Nominal items a second, utilisation, deterministic or exponential service, and how many items."""

    rate: float
    utilisation: float
    deterministic: bool
    items: int
    seed: int


def _go_first() -> None:
    """Real-time priority where it is allowed: the rate that is set is then the rate that is kept on a busy machine."""
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def _wait_until(moment: float) -> None:
    left = moment - time.perf_counter() - SPUN_S
    if left > 0:
        time.sleep(left)
    while time.perf_counter() < moment:
        pass


def _produce(queue: Queue[bytes], between_s: Array) -> None:
    _go_first()
    due = time.perf_counter()
    for seconds in between_s.tolist():
        due = max(due + seconds, time.perf_counter() - 0.05)
        _wait_until(due)
        queue.put(ITEM)


def _consume(queue: Queue[bytes], service_s: Array, done_s: Any, waited: Any) -> None:
    """A service begins when the last one ended if its item was waiting, else when the item came."""
    _go_first()
    ended = 0.0
    for n, seconds in enumerate(service_s.tolist()):
        try:
            queue.get_nowait()
            waited[n] = n > 0
            begun = ended if n else time.perf_counter()
        except Empty:
            queue.get()
            begun = time.perf_counter()
        _wait_until(begun + seconds)
        ended = time.perf_counter()
        done_s[n] = ended


def observed(run: RealRun) -> list[Outcome]:
    """Let it run, and estimate from the completions of services whose item was waiting."""
    rng = np.random.default_rng(run.seed)
    service_s = np.full(run.items, 1 / run.rate)
    if not run.deterministic:
        service_s *= rng.standard_exponential(run.items)
    between_s = rng.standard_exponential(run.items) / (run.rate * run.utilisation)
    done_s, waited = _context.RawArray("d", run.items), _context.RawArray("b", run.items)
    queue: Queue[bytes] = _context.Queue(CAPACITY)
    both = [
        _context.Process(target=_produce, args=(queue, between_s)),
        _context.Process(target=_consume, args=(queue, service_s, done_s, waited)),
    ]
    for process in both:
        process.start()
    for process in both:
        process.join()
    ended, back_to_back = np.array(done_s), np.array(waited, dtype=bool)[1:]
    estimator, outcomes = TimeEstimator(), list[Outcome]()
    for time_s, seconds in zip(ended[1:][back_to_back].tolist(), np.diff(ended)[back_to_back].tolist(), strict=True):
        outcomes += estimator.add(time_s=time_s, service_s=seconds)
    return outcomes + estimator.finish()


def _work(queue: Queue[bytes], finished: Any, wall_s: Any) -> None:
    """A consumer with something to do: checksums, about a millisecond an item. Its own count is what is observed."""
    _go_first()
    queue.get()
    begun = time.perf_counter()
    for n in range(WORK_ITEMS):
        item = queue.get()
        for _ in range(WORK_ROUNDS):
            zlib.crc32(item)
        finished.value = n + 1
    wall_s.value = time.perf_counter() - begun


def _feed(queue: Queue[bytes]) -> None:
    _go_first()
    for _ in range(WORK_ITEMS + 1):
        queue.put(ITEM)


def _watch(finished: Any, cpu_s: Any) -> None:
    """The observer: reads the count once a period, estimates, and ends with the work."""
    _go_first()
    estimator, seen = CountEstimator(period_s=PERIOD_S), 0
    begun, due = time.process_time(), time.perf_counter()
    while seen < WORK_ITEMS:
        due += PERIOD_S
        time.sleep(max(0.0, due - time.perf_counter()))
        now = finished.value
        estimator.add(time_s=due, count=now - seen, blocked=False)
        seen = now
    cpu_s.value = time.process_time() - begun


def cost_of_a_pipeline(*, watched: bool) -> tuple[float, float]:
    """Wall seconds from the first item to the last, and CPU seconds of the observer (0 without one)."""
    finished, queue = _context.RawValue("l", 0), _context.Queue(CAPACITY)
    wall_s, cpu_s = _context.RawValue("d", 0.0), _context.RawValue("d", 0.0)
    processes = [
        _context.Process(target=_work, args=(queue, finished, wall_s)),
        _context.Process(target=_feed, args=(queue,)),
        *([_context.Process(target=_watch, args=(finished, cpu_s))] if watched else []),
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return wall_s.value, cpu_s.value
