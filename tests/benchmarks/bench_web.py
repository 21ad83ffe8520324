"""What the pages' readers cost: event streams and requests on the API while a campaign runs, against the same without.

    make bench-web                                       # 200 streams, 50 requests a second, a minute each
    python -m tests.benchmarks.bench_web --seconds 20 --json web.json

The same long campaign goes on all the time, on two agents whose runs take a tenth of a second. Its run rate is taken
without readers, with them, and without them again, so that a machine that grows slower is not taken for their cost.
Bars: p99 of /progress at most 100 ms; the rate drops by less than 5 %.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import numpy as np

from orchestrator.client import Client
from orchestrator.embedded.home import discard
from orchestrator.embedded.service import Service

STREAMS = 200
REQUESTS_PER_S = 50
P99_BAR_MS = 100.0
DROP_BAR = 0.05
SETTLE_S = 5.0
STUDY = """
name: while others look
design: {blocks: [{levels: {step: [%s]}, modes: [readers]}]}
replicates: 300
replicates_per_job: 30
engine: {name: replay, mixture: "normal:0.6,900000,30000;0.4,1200000,40000", run_s: 0.1}
"""
SETTINGS = 40


class Readers:
    """Browsers that watch a campaign, and programs that ask how far it is."""

    def __init__(self, service: Service, campaign: int) -> None:
        self._service = service
        self._path = f"/api/v1/campaigns/{campaign}"
        self.messages = 0
        self.broken = 0
        self.failed = 0
        self.latencies_ms: list[float] = []

    async def look(self, seconds: float) -> None:
        """All of them, for so long."""
        streams = [asyncio.create_task(self._watch()) for _ in range(STREAMS)]
        await asyncio.sleep(SETTLE_S)
        await self._ask(seconds)
        self.broken = sum(stream.done() for stream in streams)
        for stream in streams:
            stream.cancel()
        await asyncio.gather(*streams, return_exceptions=True)

    async def _watch(self) -> None:
        """One event stream, read as it comes."""
        address = urlsplit(self._service.address)
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        try:
            head = f"GET {self._path}/stream HTTP/1.1\r\nHost: {address.netloc}\r\n"
            writer.write(f"{head}Authorization: Bearer {self._service.token}\r\n\r\n".encode())
            while piece := await reader.read(65_536):  # not by line: on these two processors it would cost the service
                self.messages += piece.count(b"\nevent: ")
        finally:
            writer.close()

    async def _ask(self, seconds: float) -> None:
        """Requests at their times, whether or not the ones before are answered."""
        headers = {"Authorization": f"Bearer {self._service.token}"}
        async with httpx.AsyncClient(base_url=self._service.address, headers=headers, timeout=30) as client:
            begin = time.monotonic()
            asked = []
            for number in range(int(seconds * REQUESTS_PER_S)):
                await asyncio.sleep(max(0.0, begin + number / REQUESTS_PER_S - time.monotonic()))
                asked.append(asyncio.create_task(self._one(client)))
            await asyncio.gather(*asked)

    async def _one(self, client: httpx.AsyncClient) -> None:
        begin = time.perf_counter()
        answer = await client.get(f"{self._path}/progress")
        self.latencies_ms.append((time.perf_counter() - begin) * 1e3)
        self.failed += answer.status_code != httpx.codes.OK


def rate(client: Client, campaign: int, seconds: float) -> float:
    """Runs a second, with nobody looking."""
    first, begin = client.progress(campaign).valid_runs, time.monotonic()
    time.sleep(seconds)
    last, end = client.progress(campaign).valid_runs, time.monotonic()
    return (last - first) / (end - begin)


def rate_with(readers: Readers, client: Client, campaign: int, seconds: float) -> float:
    """Runs a second, while they look."""
    first, begin = client.progress(campaign).valid_runs, time.monotonic()
    asyncio.run(readers.look(seconds))
    last, end = client.progress(campaign).valid_runs, time.monotonic()
    return (last - first) / (end - begin)


def measure(seconds: float) -> dict[str, float]:
    """All figures of one service."""
    folder = Path(tempfile.mkdtemp(prefix="ms-bench-", dir="/var/tmp"))
    try:
        with Service(folder, nodes=2) as service, Client(service.address, service.token) as client:
            campaign = client.submit(STUDY % ", ".join(map(str, range(SETTINGS))))[0].id
            while client.progress(campaign).valid_runs < 100:
                time.sleep(0.2)
            readers = Readers(service, campaign)
            before = rate(client, campaign, seconds)
            during = rate_with(readers, client, campaign, seconds)
            after = rate(client, campaign, seconds)
            assert client.progress(campaign).campaign.state == "running", "the campaign ended too soon"
    finally:
        discard(folder)
    alone = (before + after) / 2
    p50, p99 = np.percentile(readers.latencies_ms, [50, 99])
    return {
        "streams": STREAMS, "streams_broken": readers.broken, "messages": readers.messages,
        "requests": len(readers.latencies_ms), "requests_failed": readers.failed,
        "p50_ms": float(p50), "p99_ms": float(p99),
        "runs_per_s_before": before, "runs_per_s_during": during, "runs_per_s_after": after,
        "drop": 1 - during / alone,
    }  # fmt: skip


def main() -> int:
    """Print the figures; exit status 1 when a bar is not met."""
    options = argparse.ArgumentParser()
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--json", type=Path)
    chosen = options.parse_args()
    figures = measure(chosen.seconds)
    for name, value in figures.items():
        print(f"{name:20} {value:12.3f}")
    bars = {
        f"p99 of /progress at most {P99_BAR_MS:.0f} ms": figures["p99_ms"] <= P99_BAR_MS,
        f"run rate drops by less than {DROP_BAR:.0%}": figures["drop"] < DROP_BAR,
        "no stream broken, no request failed": figures["streams_broken"] + figures["requests_failed"] == 0,
    }
    for bar, met in bars.items():
        print(f"{'met' if met else 'NOT MET':8} {bar}")
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(figures, indent=2) + "\n")
    return 0 if all(bars.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
