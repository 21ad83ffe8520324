"""What is in Redis: hints, as Celery and kombu lay them down."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

from orchestrator.contracts.tasks import node_queue
from orchestrator.queue import redis_client

PREFIX = node_queue("")


@dataclass(frozen=True, kw_only=True, slots=True)
class Hints:
    """Messages that no agent has taken, and those that were taken and not acknowledged."""

    waiting: dict[str, tuple[int, ...]]
    """Node -> job ids."""
    unacknowledged: int


def read(redis_url: str) -> Hints:
    """Raises redis.RedisError when it does not answer."""
    with redis_client(redis_url) as redis:
        queues = [key.decode() for key in redis.scan_iter(match=f"{PREFIX}*", _type="list")]
        waiting = {name.removeprefix(PREFIX): tuple(map(_job, redis.lrange(name, 0, 999))) for name in queues}
        return Hints(waiting=waiting, unacknowledged=int(redis.hlen("unacked")))


def _job(message: bytes) -> int:
    """The job id that a message holds; 0 when it is none of ours."""
    try:
        envelope: dict[str, Any] = json.loads(message)
        return int(json.loads(base64.b64decode(envelope["body"]))[0][0])
    except (KeyError, IndexError, TypeError, ValueError):
        return 0
