"""Redis dies, forgets, stands still, is away; and its messages come twice, late, or never."""

from __future__ import annotations

import signal
import time

from redis import Redis

from tests.faults.fault import REDIS_BACK_S, Fault
from tests.faults.stage import Stage, Strike
from tests.faults.system import NODES

LONG_S = 60.0


class _StrikesRedis(Fault):
    within_s: float | None = REDIS_BACK_S


class RedisKilled(_StrikesRedis):
    """SIGKILL, and back at once; it keeps nothing on disk."""

    name = "redis killed"

    def inject(self, stage: Stage, strike: Strike) -> None:
        stage.system.kill("redis")

    def heal(self, stage: Stage, strike: Strike) -> None:
        stage.system.start("redis")


class RedisRestarted(_StrikesRedis):
    """Stopped in good order and started again, empty."""

    name = "redis restarted empty"

    def inject(self, stage: Stage, strike: Strike) -> None:
        stage.system.kill("redis", signal.SIGTERM)

    def heal(self, stage: Stage, strike: Strike) -> None:
        stage.system.start("redis")


class RedisEmptied(_StrikesRedis):
    """FLUSHALL."""

    name = "redis FLUSHALL"
    strikes = 4

    def inject(self, stage: Stage, strike: Strike) -> None:
        with stage.system.redis() as redis:
            redis.flushall()


class RedisFrozen(_StrikesRedis):
    """SIGSTOP for a minute."""

    name = "redis frozen 60 s"
    strikes = 1

    def inject(self, stage: Stage, strike: Strike) -> None:
        stage.system.tell("redis", signal.SIGSTOP)
        stage.hold(LONG_S)

    def heal(self, stage: Stage, strike: Strike) -> None:
        stage.system.tell("redis", signal.SIGCONT)


class RedisGone(_StrikesRedis):
    """Killed, and away for a minute."""

    name = "redis gone 60 s"
    strikes = 1

    def inject(self, stage: Stage, strike: Strike) -> None:
        stage.system.kill("redis")
        stage.hold(LONG_S)

    def heal(self, stage: Stage, strike: Strike) -> None:
        stage.system.start("redis")


class _StrikesMessages(Fault):
    """Nodes have a second message waiting while they measure: it can be copied, and stolen."""

    for_s = 10.0

    def inject(self, stage: Stage, strike: Strike) -> None:
        ends_at = time.monotonic() + self.for_s * stage.scale
        with stage.system.redis() as redis:
            while time.monotonic() < ends_at:
                for queue in (f"node.{node}" for node in NODES):
                    self.meddle(stage, redis, queue)
                time.sleep(0.02)

    def meddle(self, stage: Stage, redis: Redis, queue: str) -> None:
        """With what waits there now."""


class MessageTwice(_StrikesMessages):
    """Every message that waits comes a second time, at once, and a third time when its job is long over."""

    name = "message twice"

    def meddle(self, stage: Stage, redis: Redis, queue: str) -> None:
        kept = stage.notes.setdefault(queue, [])
        for message in redis.lrange(queue, 0, -1):
            if message not in kept:
                kept.append(message)
                redis.lpush(queue, message)

    def heal(self, stage: Stage, strike: Strike) -> None:
        with stage.system.redis() as redis:
            for queue, kept in stage.notes.items():
                redis.lpush(queue, *kept) if kept else None


class MessageLate(_StrikesMessages):
    """Messages are held back, and all of them delivered at once ten seconds later."""

    name = "message late"

    def meddle(self, stage: Stage, redis: Redis, queue: str) -> None:
        if (message := redis.lpop(queue)) is not None:
            stage.notes.setdefault(queue, []).append(message)

    def heal(self, stage: Stage, strike: Strike) -> None:
        stage.hold(10)
        with stage.system.redis() as redis:
            for queue, kept in stage.notes.items():
                redis.lpush(queue, *kept)
        stage.notes.clear()


class MessageNever(_StrikesMessages):
    """Messages are taken out, and never delivered."""

    name = "message never"

    def meddle(self, stage: Stage, redis: Redis, queue: str) -> None:
        redis.delete(queue)
