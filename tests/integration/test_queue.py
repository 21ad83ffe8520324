"""How hints travel, on a real Redis."""

from __future__ import annotations

import itertools
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue

import pytest

from orchestrator import queue
from orchestrator.contracts import tasks
from orchestrator.store.ports import Offer
from tests.waiting import wait_for

DEADLY = f"""
import os, signal, sys
from orchestrator import queue
app = queue.celery_app(sys.argv[1])
@app.task(name="{tasks.RUN_JOB}")
def die(job_id):
    os.kill(os.getpid(), signal.SIGKILL)
queue.work(app, "{tasks.node_queue("m1")}", name="agent@m1", chores={{}})
"""


def test_a_hint_whose_worker_is_killed_leaves_nothing_in_redis(redis_url: str) -> None:
    worker = subprocess.Popen([sys.executable, "-c", DEADLY, redis_url])
    with closing(queue.Publisher(redis_url)) as publisher:
        publisher.offer([Offer(job_id=1, node="m1")])
        assert worker.wait(timeout=60) == -signal.SIGKILL
    with queue.redis_client(redis_url) as redis:
        wait_for("nothing but bindings", redis.keys, lambda keys: all(key.startswith(b"_kombu") for key in keys))


def test_a_hint_that_cannot_be_sent_keeps_no_other_back(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: SimpleQueue[Offer | None] = SimpleQueue()
    problems = iter([KeyError("something inside kombu")])

    def send(_publisher: queue.Publisher, hint: Offer | None) -> None:
        for problem in problems:
            raise problem
        sent.put(hint)

    monkeypatch.setattr(queue.Publisher, "_send", send)
    first, second = (Offer(job_id=number, node="m1") for number in (1, 2))
    with closing(queue.Publisher("redis://localhost:1")) as publisher:
        publisher.offer([first, second])
        assert sent.get(timeout=10) == second


def test_a_hint_is_on_its_way_within_a_second_of_redis_s_return(tmp_path: Path) -> None:
    address = tmp_path / "redis.sock"
    publisher = queue.Publisher(f"redis+socket://{address}")
    with socket.socket(socket.AF_UNIX) as deaf, closing(publisher):
        deaf.bind(str(address))
        deaf.listen()
        deaf.settimeout(10)
        publisher.offer([Offer(job_id=1, node="m1")])
        tried_at = []
        for _ in range(4):
            deaf.accept()[0].close()
            tried_at.append(time.monotonic())
    assert max(later - earlier for earlier, later in itertools.pairwise(tried_at)) < 1.5
