"""Live news: what a reader gets, that all share one poller, and that nothing stays behind."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing

import httpx
import pytest

from orchestrator.api import streams
from orchestrator.api.streams import Feeds, News
from orchestrator.contracts.errors import TooManyError, UnavailableError
from orchestrator.store.memory import MemoryStore
from tests.unit.measured import Laboratory

PATIENCE_S = 20.0
Told = tuple[str, int, object]
"""What it is, its id, its JSON."""


def _told(lines: Iterator[str]) -> Iterator[Told]:
    fields: dict[str, str] = {}
    for line in lines:
        if line.startswith(":"):
            continue
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif fields:
            yield fields["event"], int(fields["id"]), json.loads(fields["data"])
            fields = {}


def test_a_campaign_that_is_over_is_told_at_once_and_the_stream_ends(
    http: httpx.Client, laboratory: Laboratory
) -> None:
    campaign = laboratory.submit()
    laboratory.work_off()
    with http.stream("GET", f"/api/v1/campaigns/{campaign.id}/stream") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        told = list(_told(answer.iter_lines()))
    assert [name for name, _, _ in told] == ["progress", "nodes", "end"]
    progress = told[0][2]
    assert isinstance(progress, dict)
    assert (progress["valid_runs"], progress["verdicts_final"]) == (180, True)


def test_a_reader_follows_a_campaign_to_its_end_and_hears_its_events(
    http: httpx.Client, laboratory: Laboratory
) -> None:
    campaign = laboratory.submit()
    with http.stream("GET", f"/api/v1/campaigns/{campaign.id}/stream", timeout=PATIENCE_S) as answer:
        told = _told(answer.iter_lines())
        assert [next(told)[0], next(told)[0]] == ["progress", "nodes"]
        laboratory.work_off()
        rest = list(told)
    assert [name for name, _, _ in rest][-1] == "end"
    events = [value["kind"] for name, _, value in rest if name == "event" and isinstance(value, dict)]
    assert events == ["campaign_complete"]


@pytest.mark.parametrize("how", ["header", "query"])
def test_who_was_cut_off_hears_what_was_missed_once(http: httpx.Client, store: MemoryStore, how: str) -> None:
    laboratory = Laboratory(store)
    campaign = laboratory.submit()
    store.campaigns.cancel(laboratory.submit().id)
    laboratory.fail_for_good()
    first = store.campaigns.events(campaign.id)[-1]
    known: dict[str, dict[str, str]] = {"header": {"headers": {"Last-Event-ID": str(first.id)}}}
    known["query"] = {"params": {"after": str(first.id)}}
    with http.stream("GET", f"/api/v1/campaigns/{campaign.id}/stream", **known[how]) as answer:  # type: ignore[arg-type]
        told = [number for name, number, _ in _told(answer.iter_lines()) if name == "event"]
    assert told == sorted(event.id for event in store.campaigns.events(campaign.id))[1:]


def test_everything_at_a_glance_begins_with_campaigns_and_nodes(http: httpx.Client, laboratory: Laboratory) -> None:
    laboratory.submit()
    with http.stream("GET", "/api/v1/stream") as answer:
        told = _told(answer.iter_lines())
        (campaigns, _, listed), (nodes, _, known) = next(told), next(told)
    assert (campaigns, nodes) == ("campaigns", "nodes")
    assert isinstance(listed, list)
    assert listed[0]["campaign"]["name"] == "two settings"
    assert isinstance(known, list)
    assert known[0]["name"] == "local-1"


def test_a_stream_of_nothing_is_not_found(http: httpx.Client) -> None:
    assert http.get("/api/v1/campaigns/7/stream").status_code == 404


class _Ledger:
    """A thing that counts how often it is looked at, and says what it is told to say."""

    def __init__(self) -> None:
        self.looks = 0
        self.says = News(topics={"progress": {None: b"0"}})
        self.away = False

    def look(self, _after: int) -> News:
        self.looks += 1
        if self.away:
            raise UnavailableError
        return self.says


async def _first(messages: AsyncIterator[bytes], wanted: bytes) -> bytes:
    async with asyncio.timeout(PATIENCE_S):
        async for message in messages:
            if wanted in message:
                return message
    raise AssertionError(f"it ended without {wanted!r}")


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "POLL_S", 0.02)


def test_two_hundred_readers_cost_as_many_looks_as_one() -> None:
    async def read() -> tuple[int, int]:
        feeds, ledger = Feeds(), _Ledger()
        all_read = asyncio.Barrier(201)

        async def one() -> int:
            async with feeds.reading("it", ledger.look, lambda: 0) as feed, aclosing(feed.messages(None)) as messages:
                await _first(messages, b"data: 0")
                await all_read.wait()
                await _first(messages, b"data: 1")
                return feed.looks

        readers = [asyncio.create_task(one()) for _ in range(200)]
        await all_read.wait()
        ledger.says = News(topics={"progress": {None: b"1"}})
        looks = await asyncio.gather(*readers)
        return ledger.looks, max(looks)

    asked, looks = asyncio.run(read())
    assert asked <= looks + 1


def test_nothing_is_polled_when_nobody_reads() -> None:
    async def read() -> tuple[int, int]:
        feeds, ledger = Feeds(), _Ledger()
        async with feeds.reading("it", ledger.look, lambda: 0) as feed, aclosing(feed.messages(None)) as messages:
            await _first(messages, b"data: 0")
        return feeds.readers, len(asyncio.all_tasks())

    assert asyncio.run(read()) == (0, 1)


def test_of_a_list_only_what_changed_is_told_again() -> None:
    async def read() -> bytes:
        feeds, ledger = Feeds(), _Ledger()
        ledger.says = News(topics={"nodes": {"n1": b"1", "n2": b"2"}})
        async with feeds.reading("it", ledger.look, lambda: 0) as feed, aclosing(feed.messages(None)) as messages:
            assert b"data: [1,2]" in await _first(messages, b"nodes")
            ledger.says = News(topics={"nodes": {"n1": b"1", "n2": b"3"}})
            return await _first(messages, b"nodes")

    assert b"data: [3]" in asyncio.run(read())


def test_a_ledger_that_is_away_is_waited_for_with_heartbeats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "HEARTBEAT_S", 0.05)

    async def read() -> None:
        feeds, ledger = Feeds(), _Ledger()
        ledger.away = True
        async with feeds.reading("it", ledger.look, lambda: 0) as feed, aclosing(feed.messages(None)) as messages:
            await _first(messages, streams.HEARTBEAT)
            ledger.away = False
            await _first(messages, b"data: 0")

    asyncio.run(read())


def test_a_reader_that_is_slow_gets_the_latest_and_has_no_queue() -> None:
    async def read() -> bytes:
        feeds, ledger = Feeds(), _Ledger()
        async with feeds.reading("it", ledger.look, lambda: 0) as feed, aclosing(feed.messages(None)) as messages:
            await _first(messages, b"data: 0")
            for number in range(1, 6):
                ledger.says = News(topics={"progress": {None: b"%d" % number}})
                looks = feed.looks
                while feed.looks < looks + 2:
                    await asyncio.sleep(0.01)
            return await _first(messages, b"progress")

    assert b"data: 5" in asyncio.run(read())


def test_a_server_that_stops_sends_its_readers_away() -> None:
    async def read() -> list[bytes]:
        feeds, ledger = Feeds(), _Ledger()
        async with feeds.reading("it", ledger.look, lambda: 0) as feed, aclosing(feed.messages(None)) as messages:
            await _first(messages, b"data: 0")
            feeds.close()
            return [message async for message in messages]

    assert asyncio.run(read()) == []


def test_there_is_an_end_to_how_many_may_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MOST_READERS", 0)
    with pytest.raises(TooManyError):
        Feeds().admit()
