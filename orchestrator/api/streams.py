"""Live news: one poller for all who watch the same thing, whatever their number."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from orchestrator.contracts.errors import TooManyError, UnavailableError

logger = logging.getLogger(__name__)

POLL_S = 1.0
HEARTBEAT_S = 15.0
"""Proxies hang up on a connection that says nothing for long."""
MOST_READERS = 1000
EVENTS_KEPT = 1000
"""Of the latest events; who was away for longer reads the ledger once."""
HEARTBEAT = b": still here\n\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class News:
    """What one look at the ledger brought."""

    topics: Mapping[str, Mapping[object, bytes]]
    """Topic -> key -> JSON text; of a topic with the one key None the text is sent, else a list of what has changed."""
    events: Sequence[tuple[int, bytes]] = ()
    """New ones by id, the oldest first."""
    over: bool = False
    """Nothing will change any more."""


Look = Callable[[int], News]
"""Asks the ledger, in a thread, for everything, and for events with a larger id than this."""


@dataclass(kw_only=True, slots=True, eq=False)
class _Fact:
    text: bytes
    since: int
    """The look that found it."""


@dataclass(kw_only=True, slots=True, eq=False)
class Feed:
    """One thing that is watched. It keeps the latest of everything: a reader that is slow misses what lay between.

    So no reader has a queue, and what a slow one costs is what its socket holds.
    """

    look: Look
    last_event: int
    """The latest event's id."""
    readers: int = 0
    looks: int = 0
    over: bool = False
    closed: bool = False
    topics: dict[str, dict[object, _Fact]] = field(default_factory=dict)
    events: deque[tuple[int, bytes]] = field(default_factory=lambda: deque(maxlen=EVENTS_KEPT))
    _waiting: set[asyncio.Event] = field(default_factory=set)
    """One for each reader that has heard everything."""
    _texts: dict[tuple[int, int], tuple[bytes, int]] = field(default_factory=dict)

    async def run(self) -> None:
        """Look again and again, until it is over."""
        try:
            while not (self.over or self.closed):
                try:
                    self._take(await asyncio.to_thread(self.look, self.last_event))
                except UnavailableError as away:
                    logger.warning("a stream waits: %s", away)
                else:
                    await self._wake_one_by_one()
                await asyncio.sleep(POLL_S)
        finally:
            if not self.over:
                self.close()

    def close(self) -> None:
        """Send every reader away."""
        self.closed = True
        for waiting in self._waiting:
            waiting.set()

    async def messages(self, after: int | None) -> AsyncGenerator[bytes]:
        """What a reader gets: everything once, then what changes, and `end` when it is over.

        `after`: the last event it knows; None: those that come from now on.
        """
        known, seen = self.last_event if after is None else min(after, self.last_event), 0
        if known < self.last_event:
            missed = await asyncio.to_thread(self.look, known)
            for known, text in missed.events:
                yield _message("event", text, known)
        while not self.closed:
            looks = self.looks
            text, known = self._since(seen, known)
            if text:
                yield text
            seen = looks
            if looks < self.looks or self.closed:
                continue  # while the reader took the last
            if self.over:
                yield _message("end", b"{}", known)
                return
            if not await self._news_within(HEARTBEAT_S):
                yield HEARTBEAT

    def _take(self, news: News) -> None:
        self.looks += 1
        for name, facts in news.topics.items():
            known = self.topics.setdefault(name, {})
            for key, text in facts.items():
                if key not in known or known[key].text != text:
                    known[key] = _Fact(text=text, since=self.looks)
        for number, text in news.events:
            self.events.append((number, text))
            self.last_event = number
        self.over = news.over
        self._texts.clear()

    async def _wake_one_by_one(self) -> None:
        """Between two readers everybody else has a turn: a request waits for one of them, not for hundreds."""
        for waiting in list(self._waiting):
            waiting.set()
            await asyncio.sleep(0)

    async def _news_within(self, seconds: float) -> bool:
        waiting = asyncio.Event()
        self._waiting.add(waiting)
        try:
            async with asyncio.timeout(seconds):
                return await waiting.wait()
        except TimeoutError:
            return False
        finally:
            self._waiting.discard(waiting)

    def _since(self, seen: int, known: int) -> tuple[bytes, int]:
        """What is newer than a look and an event, and the latest event; made once for all who have heard as much."""
        if (seen, known) not in self._texts:
            changed = ((name, _newer(facts, seen)) for name, facts in self.topics.items())
            told = [_message(name, text, known) for name, text in changed if text]
            events = [event for event in self.events if event[0] > known]
            told += [_message("event", text, number) for number, text in events]
            self._texts[seen, known] = b"".join(told), events[-1][0] if events else known
        return self._texts[seen, known]


def _newer(facts: Mapping[object, _Fact], seen: int) -> bytes:
    """What of a topic is newer than a look: its text, or those of a list that have changed."""
    newer = {key: fact.text for key, fact in facts.items() if fact.since > seen}
    return newer.get(None) or (b"[%s]" % b",".join(newer.values()) if newer else b"")


class Feeds:
    """All feeds that are read now, by what they are about."""

    def __init__(self) -> None:
        self._feeds: dict[object, tuple[Feed, asyncio.Task[None]]] = {}

    @property
    def readers(self) -> int:
        """How many there are."""
        return sum(feed.readers for feed, _ in self._feeds.values())

    def close(self) -> None:
        """The service stops: nobody waits for news any more."""
        for feed, _ in self._feeds.values():
            feed.close()

    def admit(self) -> None:
        """Raises TooManyError when there are readers enough."""
        if self.readers >= MOST_READERS:
            raise TooManyError(f"{MOST_READERS:,} streams are open already; try again later")

    @asynccontextmanager
    async def reading(self, subject: object, look: Look, last_event: Callable[[], int]) -> AsyncIterator[Feed]:
        """The feed about this subject, while somebody reads it; `last_event` says where a new one begins."""
        if subject not in self._feeds:
            begins = await asyncio.to_thread(last_event)
            if subject not in self._feeds:  # another reader came meanwhile
                feed = Feed(look=look, last_event=begins)
                self._feeds[subject] = feed, asyncio.create_task(feed.run())
        feed, task = self._feeds[subject]
        feed.readers += 1
        try:
            yield feed
        finally:
            feed.readers -= 1
            if feed.readers == 0:
                del self._feeds[subject]
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task


def _message(name: str, text: bytes, last_event: int) -> bytes:
    """One server-sent event; its id is where a reader that comes back goes on."""
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (last_event, name.encode(), text)
