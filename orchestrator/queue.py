"""Celery on Redis: how hints travel (DESIGN 2). Nothing is lost when they do not arrive."""

from __future__ import annotations

import logging
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from celery import Celery, platforms, signals
from celery.apps import worker as celery_worker
from celery.worker.consumer import Consumer
from celery.worker.state import maybe_shutdown
from kombu import Producer
from kombu.exceptions import OperationalError
from redis import Redis, RedisError

from orchestrator.contracts import tasks
from orchestrator.contracts.errors import UnavailableError
from orchestrator.store.ports import Offer

logger = logging.getLogger(__name__)

SOCKET_TIMEOUT_S = 2.0
SHORTEST_BACK_OFF_S = 0.25
LONGEST_BACK_OFF_S = 1.0
"""Celery's own goes to 30 s, whatever the transport options say."""
ANALYSE_EXPIRES_S = 30
"""A hint that there is analysis work is stale soon; the next one is on its way."""


class PatientConsumer(Consumer):  # type: ignore[misc]  # celery is not typed
    """Celery's consumer, but back within a second of Redis's return, and with chores of its own while idle."""

    chores: Mapping[float, Callable[[], None]] = {}
    """Seconds -> what is called on every connection and then as often, never while a task runs (solo pool)."""

    def ensure_connected(self, conn: Any) -> Any:
        """Connect, however long it takes; look for a shutdown in between."""
        conn.ensure_connection(
            lambda error, _interval: logger.warning("redis does not answer: %s", error),
            interval_start=SHORTEST_BACK_OFF_S,
            interval_step=SHORTEST_BACK_OFF_S,
            interval_max=LONGEST_BACK_OFF_S,
            callback=maybe_shutdown,
        )
        self.first_connection_attempt = False
        return conn

    def register_with_event_loop(self, hub: Any) -> None:
        """Let the agent be heard while it has nothing to do."""
        super().register_with_event_loop(hub)
        for interval_s, chore in self.chores.items():
            chore()
            hub.timer.call_repeatedly(interval_s, chore)


def celery_app(redis_url: str) -> Celery:
    """The one Celery configuration of the product: JSON, early acknowledgement, no results, no chatter."""
    app = Celery("modescope", broker=redis_url, set_as_current=False)
    app.conf.update(
        accept_content=["json"],
        task_serializer="json",
        task_ignore_result=True,
        task_publish_retry=False,
        task_store_errors_even_if_ignored=False,
        # No prefetch limit. A solo pool takes one message at a time anyway; and a limit counts a message whose
        # acknowledgement was lost with Redis as still in hand, for ever: such a worker never asks again (measured).
        worker_prefetch_multiplier=0,
        worker_send_task_events=False,
        worker_enable_remote_control=False,
        worker_hijack_root_logger=False,
        worker_consumer="orchestrator.queue:PatientConsumer",
        worker_cancel_long_running_tasks_on_connection_loss=True,
        broker_connection_retry_on_startup=True,
        broker_transport_options={
            # A message is forgotten when it is taken. Kombu would note it in Redis until it is acknowledged, and
            # send it again an hour after its worker was killed: a hint that nobody needs any more (decision 5).
            "ack_emulation": False,
            "priority_steps": [0],  # order is decided in SQL: a queue is one key, which a user's rights can name
            "socket_timeout": SOCKET_TIMEOUT_S,
            "socket_connect_timeout": SOCKET_TIMEOUT_S,
            "health_check_interval": 10,
            # Of whoever sends: the worker's own back-off is in PatientConsumer.
            "interval_start": SHORTEST_BACK_OFF_S,
            "interval_step": SHORTEST_BACK_OFF_S,
            "interval_max": LONGEST_BACK_OFF_S,
        },
    )
    return app


def work(app: Celery, queue_name: str, *, name: str, chores: Mapping[float, Callable[[], None]]) -> None:
    """Be a worker on one queue until told to stop: solo pool, no gossip, no mingle, no heartbeat (DESIGN 5).

    `chores`: seconds -> what is done as often while there is no task.
    """
    # As root Celery warns of pickled messages; ours are JSON.
    warnings.simplefilter("ignore", platforms.SecurityWarning)
    # Its log is ours (orchestrator/logs.py), and what it would print beside it on a signal says nothing.
    signals.setup_logging.connect(_leave_logging_alone)
    celery_worker.safe_say = lambda *_arguments: None
    PatientConsumer.chores = chores
    worker = app.Worker(
        queues=[queue_name], pool="solo", concurrency=1, hostname=name, quiet=True, loglevel="WARNING",
        without_gossip=True, without_mingle=True, without_heartbeat=True,
    )  # fmt: skip
    worker.start()


def _leave_logging_alone(**_named: object) -> None:
    """That somebody listens is what keeps Celery from setting up handlers of its own."""


class Publisher:
    """Sends hints from a thread of its own: the controller's SQL never waits for Redis.

    What cannot be sent waits, once however often it is said, and goes as soon as Redis answers.
    """

    def __init__(self, redis_url: str) -> None:
        self._app = celery_app(redis_url)
        self._waiting: dict[Offer | None, None] = {}
        """In the order in which they came."""
        self._has_work = threading.Condition()
        self._closed = False
        self._producer: Producer | None = None
        threading.Thread(target=self._send_all, name="publisher", daemon=True).start()

    def offer(self, offers: Sequence[Offer]) -> None:
        """Tell nodes about jobs."""
        self._add(offers)

    def analyse(self) -> None:
        """Tell the analysis workers that there is work."""
        self._add([None])

    def close(self) -> None:
        """Send nothing more: hints that wait are dropped, for the ledger knows what they say."""
        with self._has_work:
            self._closed = True
            self._has_work.notify()

    def _add(self, hints: Sequence[Offer | None]) -> None:
        with self._has_work:
            self._waiting.update(dict.fromkeys(hints))
            self._has_work.notify()

    def _send_all(self) -> None:
        while True:
            with self._has_work:
                self._has_work.wait_for(lambda: self._waiting or self._closed)
                if self._closed:
                    break
                hint = next(iter(self._waiting))
                del self._waiting[hint]
            try:
                self._send(hint)
            except (OperationalError, RedisError, OSError) as error:
                logger.warning("redis does not answer, hints wait: %s", error)
                self._add([hint])
                self._disconnect()
                time.sleep(SHORTEST_BACK_OFF_S)
            except Exception:  # whatever it was: without this thread every agent would stand still, for ever
                logger.exception("a hint is dropped")
                self._disconnect()
        self._disconnect()

    def _send(self, hint: Offer | None) -> None:
        if self._producer is None:
            self._producer = Producer(self._app.connection_for_write())
        if hint is None:
            self._app.send_task(
                tasks.ANALYSE, queue=tasks.ANALYSIS_QUEUE, producer=self._producer, expires=ANALYSE_EXPIRES_S
            )
        else:
            # Only `queue=`: by exchange and routing key a message vanishes silently after FLUSHALL.
            self._app.send_task(
                tasks.RUN_JOB, args=[hint.job_id], queue=tasks.node_queue(hint.node), producer=self._producer
            )

    def _disconnect(self) -> None:
        producer, self._producer = self._producer, None
        if producer is not None:
            with suppress(Exception):  # it is broken already: that is why it is thrown away
                producer.connection.close()


def redis_client(redis_url: str, *, timeout_s: float = SOCKET_TIMEOUT_S) -> Redis:
    """A plain client for the same server; `redis+socket:///path` is kombu's way to write a Unix socket."""
    address = redis_url.replace("redis+socket://", "unix://", 1)
    return Redis.from_url(address, socket_timeout=timeout_s, socket_connect_timeout=SOCKET_TIMEOUT_S)


def require(redis_url: str) -> None:
    """Raises UnavailableError when Redis does not answer."""
    try:
        with redis_client(redis_url) as client:
            client.ping()
    except RedisError as error:
        raise UnavailableError(f"redis does not answer: {error}") from error


def stop_now(redis_url: str, nodes: Sequence[str]) -> None:
    """Ask these nodes to look at once whether the job in flight may go on. A hint: nobody may hear it."""
    try:
        with redis_client(redis_url) as client:
            for node in nodes:
                client.publish(tasks.stop_channel(node), b"")
    except RedisError as error:
        logger.warning("redis does not answer, the runs in flight go on to their end: %s", error)
