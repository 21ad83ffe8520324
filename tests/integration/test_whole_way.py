"""The whole way, on real parts: a study goes in, runs and verdicts come out, whatever dies in between."""

from __future__ import annotations

import csv
import functools
import io
import json
import os
import re
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from orchestrator.client import Client
from orchestrator.contracts.campaigns import Progress
from orchestrator.contracts.errors import UnavailableError
from orchestrator.embedded.home import discard
from orchestrator.embedded.service import Service
from orchestrator.queue import redis_client
from orchestrator.store.telemetry import unpack
from tests.waiting import wait_for
from workers.benchmarks import iozone_text

SIX = "[initial_writers, rewriters, readers, re-readers, random_readers, random_writers]"
SHORT_RUNS = f"""
name: short runs
design:
  blocks:
    - levels: {{threads: [1, 2], file_size_kb: [64, 128], record_size_kb: [4]}}
      modes: {SIX}
replicates: 60
replicates_per_job: 5
engine: builtin
"""
LONG_RUNS = """
name: long runs
design:
  blocks:
    - levels: {step: [1]}
      modes: [readers]
replicates: 4
replicates_per_job: 4
engine: {name: replay, mixture: "normal:1,1000,1", run_s: 30}
"""
ONE_SETTING = f"""
name: one setting
design:
  blocks:
    - levels: {{threads: [2], file_size_kb: [256], record_size_kb: [64]}}
      modes: {SIX}
replicates: 3
engine: {{name: iozone, settle_s: 0}}
"""


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    """Everything that `modescope up --nodes 2` starts."""
    folder = Path(tempfile.mkdtemp(prefix="ms-", dir="/var/tmp"))
    with Service(folder, nodes=2) as running:
        yield running
    discard(folder)


@pytest.fixture
def client(service: Service) -> Iterator[Client]:
    """A client of its interface."""
    with Client(service.address, service.token) as connected:
        yield connected


def environment(pid: int) -> dict[str, str]:
    """What a process was started with."""
    words = (word.partition("=") for word in Path(f"/proc/{pid}/environ").read_text().split("\0"))
    return {name: value for name, _, value in words}


def until(client: Client, campaign: int, what: str, holds: Callable[[Progress], bool]) -> None:
    wait_for(what, lambda: client.progress(campaign), holds)


def submit(client: Client, study: str) -> int:
    return client.submit(study)[0].id


def valid_measurements(client: Client, campaign: int) -> Counter[tuple[str, ...]]:
    """Configuration -> how many valid measurements its export shows."""
    rows = csv.DictReader(io.StringIO(b"".join(client.export(campaign)).decode()))
    return Counter(
        (row["threads"], row["file_size_kb"], row["record_size_kb"], row["mode"])
        for row in rows
        if row["valid"] == "valid"
    )


def test_a_study_ends_complete_with_a_verdict_for_every_configuration(client: Client) -> None:
    campaign = submit(client, SHORT_RUNS)
    until(client, campaign, "final verdicts", lambda seen: seen.verdicts_final)
    assert client.campaign(campaign).state == "complete"
    assert set(valid_measurements(client, campaign).values()) == {60}
    assert all(one.verdict is not None and one.final for one in client.configurations(campaign))


def test_an_agent_killed_with_its_benchmark_costs_nothing(service: Service, client: Client) -> None:
    campaign = submit(client, SHORT_RUNS)
    until(client, campaign, "some runs", lambda seen: seen.valid_runs > 20)
    journal = service.folder / "nodes" / "local-1" / "running.json"
    wait_for("a benchmark of this agent", journal.exists, bool)
    benchmark = json.loads(journal.read_text())["group"] if journal.exists() else None
    os.kill(service.pids["agent-local-1"], signal.SIGKILL)
    if benchmark is not None:
        with suppress(ProcessLookupError):  # it may have ended meanwhile, or been ended by its watcher
            os.killpg(benchmark, signal.SIGKILL)
    until(client, campaign, "the end", lambda seen: seen.campaign.state != "running")
    assert client.campaign(campaign).state == "complete"
    assert set(valid_measurements(client, campaign).values()) == {60}


@pytest.mark.parametrize("part", ["redis", "postgres", "controller"])
def test_a_part_that_dies_comes_back_and_nothing_is_lost(part: str) -> None:
    folder = Path(tempfile.mkdtemp(prefix="ms-", dir="/var/tmp"))
    with Service(folder, nodes=2) as service, Client(service.address, service.token) as client:
        campaign = submit(client, SHORT_RUNS)
        until(client, campaign, "some runs", lambda seen: seen.valid_runs > 20)
        os.kill(service.pids[part], signal.SIGKILL)
        look = functools.partial(state_or_error, client, campaign)
        wait_for("the end", look, lambda seen: seen == "complete")
        assert set(valid_measurements(client, campaign).values()) == {60}
    discard(folder)


def state_or_error(client: Client, campaign: int) -> str:
    """While the database is away, the interface says so."""
    try:
        return client.campaign(campaign).state
    except UnavailableError as away:
        return str(away)


def test_emptying_redis_loses_nothing(service: Service, client: Client) -> None:
    campaign = submit(client, SHORT_RUNS)
    until(client, campaign, "some runs", lambda seen: seen.valid_runs > 20)
    with redis_client(environment(service.pids["controller"])["MODESCOPE_REDIS_URL"]) as redis:
        redis.flushall()
    until(client, campaign, "the end", lambda seen: seen.campaign.state != "running")
    assert client.campaign(campaign).state == "complete"
    assert set(valid_measurements(client, campaign).values()) == {60}


def test_a_paused_campaign_stands_still_until_it_is_resumed(client: Client) -> None:
    campaign = submit(client, SHORT_RUNS)
    until(client, campaign, "some runs", lambda seen: seen.valid_runs > 5)
    client.pause(campaign)
    until(client, campaign, "nobody at work", lambda seen: not {"leased", "offered"} & set(seen.jobs))
    paused_at = client.progress(campaign).valid_runs
    assert client.progress(campaign).valid_runs == paused_at
    client.resume(campaign)
    until(client, campaign, "the end", lambda seen: seen.campaign.state == "complete")


def test_cancelling_now_ends_the_run_in_flight(client: Client) -> None:
    campaign = submit(client, LONG_RUNS)
    until(client, campaign, "a run in flight", lambda seen: seen.jobs.get("leased") == 1)
    begin = time.monotonic()
    client.cancel(campaign, now=True)
    following = submit(client, LONG_RUNS.replace("run_s: 30", "run_s: 0"))
    until(client, following, "both nodes free", lambda seen: seen.campaign.state == "complete")
    wait_for("every node free", client.nodes, lambda nodes: all(node.job_id is None for node in nodes), within_s=15)
    assert time.monotonic() - begin < 20
    assert client.campaign(campaign).state == "cancelled"


def with_iozone(script: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a shell script in the place of IOzone."""
    wrapper = folder / "bin" / "iozone"
    wrapper.parent.mkdir()
    wrapper.write_text(f"#!/bin/sh\n{script}\n")
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")


def test_garbled_output_is_kept_and_the_campaign_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    version = "echo '        Version $Revision: 3.489 $'"
    with_iozone(f'[ "$1" = -v ] && exec {version}\necho "Children see thr#ughput for 2"', tmp_path, monkeypatch)
    folder = Path(tempfile.mkdtemp(prefix="ms-", dir="/var/tmp"))
    with Service(folder) as service, Client(service.address, service.token) as client:
        campaign = submit(client, ONE_SETTING)
        until(client, campaign, "the end", lambda seen: seen.campaign.state != "running")
        assert client.campaign(campaign).state == "incomplete"
        (reason,) = client.campaign(campaign).missing
        with psycopg.connect(environment(service.pids["controller"])["MODESCOPE_DATABASE_URL"]) as database:
            packed = database.execute(
                "SELECT r.validity, t.packed FROM telemetry AS t JOIN runs AS r ON r.telemetry_id = t.id"
            )
            outputs = {(validity, told["details"]["output"]) for validity, block in packed for told in unpack(block)}
    discard(folder)
    assert "invalid 3 times in a row" in reason
    assert outputs == {("invalid", "Children see thr#ughput for 2\n")}


def test_iozone_measures_what_it_prints(
    require_program: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    iozone = require_program("iozone")
    printed = tmp_path / "printed"
    printed.mkdir()
    with_iozone(f'[ "$1" = -v ] && exec {iozone} -v\n{iozone} "$@" | tee {printed}/$$', tmp_path, monkeypatch)
    folder = Path(tempfile.mkdtemp(prefix="ms-", dir="/var/tmp"))
    with Service(folder) as service, Client(service.address, service.token) as client:
        campaign = submit(client, ONE_SETTING)
        until(client, campaign, "the end", lambda seen: seen.campaign.state != "running")
        rows = list(csv.DictReader(io.StringIO(b"".join(client.export(campaign)).decode())))
    discard(folder)
    texts = [file.read_text() for file in printed.iterdir()]
    expected = sorted(
        float(value) for text in texts for value in re.findall(r"Children see throughput.*=\s*([\d.]+) kB/sec", text)
    )
    assert len(rows) == 18
    assert sorted(float(row["throughput_kbps"]) for row in rows) == pytest.approx(expected)
    assert all(iozone_text.parse(text) for text in texts)
