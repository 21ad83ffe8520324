"""The one line on which an agent listens while it measures: a thread asleep in a read, woken only by a word for it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from redis import RedisError

from orchestrator.contracts import tasks
from orchestrator.queue import redis_client

logger = logging.getLogger(__name__)

SILENCE_S = 3600.0
"""After so long without a word the line is opened afresh: a dead peer is noticed in the end."""
PAUSE_S = 5.0


def listen(redis_url: str, node: str, on_word: Callable[[], None]) -> None:
    """Call `on_word` for every hint on this node's stop channel, from a thread of its own, for ever."""
    threading.Thread(target=_listen, args=(redis_url, node, on_word), name="stop line", daemon=True).start()


def _listen(redis_url: str, node: str, on_word: Callable[[], None]) -> None:
    pause = threading.Event()
    while True:
        try:
            with redis_client(redis_url, timeout_s=SILENCE_S) as client, client.pubsub() as line:
                line.subscribe(tasks.stop_channel(node))
                for word in line.listen():
                    if word["type"] == "message":
                        on_word()
        except RedisError as error:
            logger.info("the stop line is cut: %s", error)
            pause.wait(PAUSE_S)
